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

# The lists below are for queries only; those above also shape training data.

#: Nouns of what things are made of: "not leather" of a sofa excludes leather sofas.
MATERIALS = listed(
    """
    acrylic aluminium aluminum bamboo brass bronze canvas cashmere cement ceramic chocolate chrome
    clay concrete copper cork cotton denim felt fleece fur gold granite jute lace latex leather
    linen marble metal nylon oak pine plaid plaster plastic polyester porcelain rattan rubber satin
    silicone silk silver spandex stainless suede teak tweed velvet vinyl walnut wicker wood wool
    """
)

#: More nouns that take no article.
MORE_MASS_NOUNS = MATERIALS | listed(
    """
    acne advertising arugula ash asparagus asphalt basil blur branding bubblewrap cabbage
    caffeine calligraphy cardboard caviar celery champagne charcoal chicken cider cilantro
    cinnamon coal compost coriander cruelty dairy dandruff deodorant dew dill dough driftwood
    dye espresso eyeliner fat fencing fish foil fragrance garnish gin ginger glare glitter glue
    gluten gravy grime guacamole guano hairspray ham heating hummus insulation kale lace lactose
    landscaping lint manure mascara mayo mint moisture mold moonlight motion mould movement
    mozzarella mulch noise nudity odor odour oregano oxygen packaging parmesan parsley pastry
    pavement perfume photography plankton plumbing pollen popcorn pork quinoa ramen rocket
    rosemary rum saffron saliva salmon salsa sauce sawdust scaffolding seating sewage shrimp
    signage soot soy spinach stress stubble styrofoam sun sunscreen supervision sushi sweat
    syrup tempeh thread thunder thyme tinsel tuna typography vinegar vodka wallpaper wasabi
    whiskey whisky wifi
    """
)

#: Nouns in "-ing" for things that can be counted; most others name what is done.
COUNTABLE_ING = listed(
    """
    awning bearing building ceiling clearing coupling covering crossing drawing duckling dumpling
    earring engraving etching gosling greeting landing marking meeting offspring opening
    painting pudding railing ring sapling seedling sibling sling spring string swing topping viking
    wedding wing
    """
)

#: People called as if by name: "everyone except grandpa".
KIN = listed(
    "aunt auntie dad daddy grandad granddad grandma grandpa granny mom mommy mum mummy nan uncle"
)

#: What is all around, so that it is the whole picture's: "a pier without boats in the fog".
SURROUNDINGS = listed(
    """
    afternoon autumn daylight dark darkness dawn day dusk evening fall fog haze heat light mist
    moonlight morning night rain sand shade snow spring storm summer sun sunlight sunrise sunset
    sunshine twilight wind winter
    """
)

#: More people and animals.
OTHER_BEINGS = KIN | listed(
    """
    accountant actor anybody anyone actress architect astronaut baker ballerina barber barista
    bartender businessman businesswoman butcher cameraman carpenter cashier catcher cleaner
    conductor craftsman daughter dentist doctor electrician employee engineer entertainer goalie
    goalkeeper grandmother grandparent human inmate juggler kitesurfer lawyer lifeguard magician
    mechanic midwife monk neighbor neighbour nun nurse partner plumber president priest prisoner
    protester salesman scientist shopkeeper son tailor twin veteran volunteer wizard workman
    ape badger beaver bee bison boar buffalo bull butterfly cheetah cockatoo crab crocodile
    crow dolphin donkey dragonfly eagle elk falcon ferret fish flamingo fox frog gorilla
    hamster hawk hedgehog hen heron hippo insect jaguar kangaroo koala leopard lizard lynx moose
    octopus ostrich otter owl panda parrot peacock pelican penguin pigeon puffin raccoon ram rat
    raven reindeer rhino robin rooster seagull shark snake sparrow spider squirrel stork
    swan tortoise turkey turtle walrus whale wolf
    """
)
