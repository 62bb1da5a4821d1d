"""Word lists the grammar consults: what is countable, what is alive, what "-less" words lack."""


def listed(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


#: Mass nouns of visible things: "no snow" excludes "snow", not "a snow".
MASS_NOUNS = listed(
    """
    air alcohol algae art artwork bacon baggage baseball beef beer blood bread broccoli
    butter candy cash cement cereal chalk cheese chocolate clay clothing clutter coffee
    color colour concrete confetti corn cotton cream cricket cutlery daylight debris decor
    decoration dirt dust electricity equipment fabric fire flesh flour foam fog foliage food
    footwear frost fruit fur furniture garbage garlic gasoline gear gold golf graffiti grass
    gravel greenery ground hair hay headwear hockey honey ice icing ink ivy jam jelly
    jewellery jewelry juice ketchup laundry lava leather lemonade lettuce light lighting
    lightning lipstick litter luggage machinery mail make-up makeup marble mayonnaise meat
    metal milk mist moss mud music mustard oil paint paper parking pasta people pepper
    plastic pollution porcelain pottery rain rice rubbish rust salt sand scenery seafood
    seaweed shade shelter shrubbery silver silverware sky sleet smog smoke snow soap soccer
    soda soil soup spaghetti steam steel stuff sugar sunlight sunshine swimwear tableware
    tape tea tennis text timber toast tofu traffic training trash turf underwear vegetation
    violence water wax weather wheat wildlife wind wine wood wool writing yarn yogurt
    """
)

#: Plurals that do not end in -s.
IRREGULAR_PLURALS = listed(
    """
    cattle children deer feet firemen fishermen geese men mice oxen people personnel police
    policemen sheep teeth women
    """
)

#: Nouns of animals, for which one may say "it".
ANIMALS = listed(
    """
    animal bear bird bull calf camel cat cattle chicken cow deer dog duck elephant giraffe
    goat goose horse kitten lamb lion monkey pet pig pony pup puppy rabbit sheep tiger zebra
    """
)

#: Nouns of people and animals: they act, wear and hold; things do not.
BEINGS = ANIMALS | listed(
    """
    adult artist athlete audience baby ballplayer band bather biker boarder boy bride chef
    child climber clown couple cowboy crowd customer cyclist dancer diver driver elderly
    everybody everyone family fan farmer father female fighter firefighter fisherman friend
    gentleman girl grandfather grandmother groom group guard guest guy hiker husband infant
    jockey jogger judge kid lady male man mother motorcyclist mountaineer musician officer
    owner paddler painter parent passenger pedestrian people performer person photographer
    pilot player police policeman racer referee rider rower runner sailor shopper singer
    sister skateboarder skater skier sledder snowboarder soldier somebody someone spectator
    student surfer swimmer teacher team teen teenager toddler tourist trainer vendor visitor
    waiter waitress walker wife woman worker wrestler youngster youth
    """
)

#: What a "-less" word lacks, for those that describe something a photograph can show. Words such
#: as "wireless", "homeless" or "motionless" are left out: they are no exclusion of a thing.
LESS_WORDS = {
    "armless": "arms",
    "backless": "a back",
    "beardless": "a beard",
    "boneless": "bones",
    "bodyless": "a body",
    "braless": "a bra",
    "branchless": "branches",
    "brimless": "a brim",
    "carless": "cars",
    "cloudless": "clouds",
    "coatless": "a coat",
    "collarless": "a collar",
    "colorless": "color",
    "colourless": "colour",
    "crewless": "a crew",
    "crustless": "crusts",
    "doorless": "doors",
    "driverless": "a driver",
    "faceless": "a face",
    "featherless": "feathers",
    "fenceless": "a fence",
    "flowerless": "flowers",
    "footless": "feet",
    "frameless": "a frame",
    "furless": "fur",
    "gloveless": "gloves",
    "grassless": "grass",
    "hairless": "hair",
    "handleless": "a handle",
    "hatless": "a hat",
    "headless": "a head",
    "helmetless": "a helmet",
    "hoodless": "a hood",
    "hornless": "horns",
    "jacketless": "a jacket",
    "leafless": "leaves",
    "leashless": "a leash",
    "legless": "legs",
    "lidless": "a lid",
    "maskless": "a mask",
    "moonless": "the moon",
    "pantless": "pants",
    "pantsless": "pants",
    "peopleless": "people",
    "petalless": "petals",
    "pilotless": "a pilot",
    "railless": "rails",
    "riderless": "a rider",
    "rimless": "rims",
    "roofless": "a roof",
    "saddleless": "a saddle",
    "seatless": "seats",
    "seedless": "seeds",
    "shirtless": "a shirt",
    "shoeless": "shoes",
    "sleeveless": "sleeves",
    "snowless": "snow",
    "sockless": "socks",
    "starless": "stars",
    "stemless": "a stem",
    "strapless": "straps",
    "stringless": "strings",
    "sunless": "the sun",
    "tailless": "a tail",
    "textless": "text",
    "tieless": "a tie",
    "toothless": "teeth",
    "topless": "a top",
    "trafficless": "traffic",
    "treeless": "trees",
    "trouserless": "trousers",
    "waterless": "water",
    "wheelless": "wheels",
    "windowless": "windows",
    "wingless": "wings",
}

#: "un-" words whose absence can be seen, with the affirmative word. "Unusual" and "united" are
#: none; nor are reversals ("unzipped", "unwrapped"), which describe a state of their own.
UN_WORDS = {
    "unattended": "attended",
    "uncarpeted": "carpeted",
    "unclothed": "clothed",
    "uncooked": "cooked",
    "uncrowded": "crowded",
    "uncut": "cut",
    "undecorated": "decorated",
    "undressed": "dressed",
    "unfinished": "finished",
    "unfurnished": "furnished",
    "unlit": "lit",
    "unmade": "made",
    "unmanned": "manned",
    "unoccupied": "occupied",
    "unopened": "opened",
    "unpainted": "painted",
    "unpaved": "paved",
    "unpeeled": "peeled",
    "unripe": "ripe",
    "unsaddled": "saddled",
    "unshaven": "shaven",
    "unsliced": "sliced",
    "unsmiling": "smiling",
}

#: Nouns in "-ing", which the tagger tends to take for verbs.
ING_NOUNS = frozenset(
    {"building", "ceiling", "clothing", "painting", "railing", "swing", "wedding"}
)

#: What the sky does: "it is not raining" has no subject.
WEATHER_VERBS = frozenset({"rain", "snow", "hail", "drizzle", "sleet", "storm"})

#: Nouns that place something in the picture rather than name a thing in it.
POSITIONS = listed(
    """
    air back background bottom center centre corner distance end foreground frame front
    image left middle photo photograph picture right scene shot side top view way
    """
)

#: Verbs whose object ends what they exclude: in "not wearing a helmet on a bike", "on a bike" is
#: still asked for.
HOLDING_VERBS = frozenset({"wear", "hold", "carry", "have", "use", "show"})
