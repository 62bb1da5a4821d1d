"""Words that exclude each other: of one thing, only one of two is true.

A table has lines, its groups; of a group, a word may stand in the place of another. Words that one
comma parts from the others are no such alternatives: they may be said of the same thing, as "dog"
and "puppy" may. A word that stands in several places is alternative to none it shares a place with
("water" to no "lake"). Where a colon follows the first place, the others are alternatives of its
words alone: who wears a jacket may also wear a shirt.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from litotes.language.lexicon import listed

#: Singular, as lemmas. What lies near each other in pictures, such as beach and water, stands in
#: one place, as a caption that names the one may be true of the other.
_NOUNS = """
man guy gentleman boy dude, woman lady girl
man woman guy lady gentleman, baby infant toddler child kid
mother mom, father dad
brother, sister
son, daughter
grandmother grandma, grandfather grandpa
skateboarder skater, snowboarder, skier, surfer, cyclist bicyclist biker, runner jogger sprinter, \
swimmer diver, hiker backpacker, climber, golfer, kayaker canoeist rower, gymnast, motorcyclist, \
wakeboarder, rollerblader skater, sledder
policeman policewoman officer cop, fireman firefighter, soldier, nurse doctor, chef cook, clown, \
pirate, cowboy, priest, bride, waiter waitress, ballerina, jockey, wrestler boxer, musician \
guitarist drummer violinist
dog puppy pup hound greyhound poodle terrier collie beagle pug corgi doberman labrador dalmatian \
bulldog pitbull husky chihuahua spaniel dachshund rottweiler retriever lab labradoodle shepherd \
mastiff whippet setter, cat kitten, horse pony mule donkey \
colt, cow bull calf ox bison, sheep lamb goat ram, pig, rabbit bunny, monkey, elephant, giraffe, \
zebra, bear, deer, camel, fox, squirrel
bird duck goose swan pigeon seagull gull eagle hawk chicken parrot owl dove crane crow, fish, \
turtle, snake, butterfly bee
ball football basketball baseball softball volleyball, frisbee disc disk, stick branch twig log, \
rope, bone, balloon, kite, hose, snowball, pillow
soccer football rugby, basketball, baseball softball cricket, tennis badminton, hockey, \
volleyball, lacrosse, golf, chess, ping-pong
bicycle, motorcycle motorbike dirtbike bike, skateboard, scooter, unicycle, tricycle, sled, horse
bike bicycle motorcycle motorbike, skateboard, scooter, unicycle, tricycle, sled, horse
car jeep van taxi sedan, truck firetruck, bus, train subway, boat, motorcycle bike bicycle, \
tractor, carriage wagon, airplane plane jet, helicopter
boat canoe kayak raft rowboat, car truck jeep van, sled, wagon
canoe, sailboat, speedboat, raft
kayak, sailboat, speedboat, raft
raft innertube tube
surfboard wakeboard, skateboard, snowboard, sled, kayak canoe raft, innertube tube
ski, snowboard, skateboard, sled, skate
shirt t-shirt tee jersey blouse: jacket coat parka hoodie sweatshirt vest, dress gown, \
suit tuxedo, robe, sweater, wetsuit
dress gown, suit tuxedo, robe, wetsuit, bikini swimsuit, kilt
jacket coat parka hoodie sweatshirt sweater vest: dress gown, robe, wetsuit, bikini swimsuit
uniform: dress gown, robe, wetsuit, bikini swimsuit
short trunk, pant trouser jean khaki, skirt, tight legging
bikini swimsuit, wetsuit, dress gown, kimono, suit tuxedo
collar leash harness muzzle: hat, scarf, sweater, coat jacket, bandanna bandana
hat cap beanie sombrero, helmet hardhat, wig, crown tiara, headband bandanna bandana headscarf \
turban
scarf, necktie tie, necklace, medal, lei
glass sunglass goggle, mask, headphone
boot, sandal, sneaker shoe, skate rollerblade, heel, slipper, flipper
sign banner poster: flag, umbrella, balloon, guitar, drum
cigarette cigar pipe: guitar, book, sandwich, flute
cart: boat, sled, bus, canoe
backpack, purse handbag, suitcase luggage, basket, bucket pail, box, umbrella, briefcase
water pool ocean sea lake pond river stream creek puddle wave surf rapid bay canal, snow slush \
ice, grass lawn field meadow, sand dune desert, street road sidewalk pavement highway, hay straw
pool, ocean sea wave surf, lake pond river stream creek, puddle
beach shore shoreline seashore coast water ocean sand, street road sidewalk pavement highway alley \
city intersection crosswalk, field grass lawn meadow park yard playground garden backyard farm, \
snow ice, forest jungle wood woodland, desert, stage, kitchen
mountain hill cliff rock boulder hillside mountainside peak slope ridge, building house store \
barn church tower skyscraper castle, bridge, waterfall, lighthouse, statue fountain
tree: bridge, tent, statue, tower, waterfall, lighthouse, castle, tunnel, fountain
path trail walkway track racetrack lane: beach shore, stage, river stream lake, roof, kitchen
dirt mud gravel: snow ice, water pool, carpet, bed
floor carpet rug: beach, grass lawn, snow, sand, roof, road street
dock pier boardwalk: stage, roof, street road, snow, field
court: beach, stage, street, roof
sand yard park playground garden backyard farm
field lawn yard meadow pasture park garden, beach shore shoreline, street road sidewalk highway, \
stadium arena, gym, parking
bench, chair stool armchair recliner, couch sofa loveseat, bed mattress hammock, table desk \
counter, swing, swingset
wall, fence railing rail gate barrier
hurdle bar barrier: puddle, stream river creek, log, bench, car
window, door doorway gate, mirror
ladder rope, stair staircase stairway step stairwell, ramp, slide, trampoline, escalator
flower: balloon, flag, book, umbrella, candle
leaf: snow, sand, water, hay, mud
bridge, tunnel, ladder, roof, log
tent, house home cabin hut, car, barn, igloo
restaurant cafe diner bar, church, library, gym, hospital, kitchen, store shop market mall, \
school classroom, museum
apple, orange, banana, watermelon, pumpkin, strawberry, carrot, corn, egg, potato
cake cupcake, cream, pizza, sandwich burger hamburger, salad, cookie, bread, pie, taco, \
noodle spaghetti, popcorn, hotdog
beer, wine champagne, coffee tea, milk, soda coke, juice, lemonade
bottle, cup mug glass, can, bowl, plate, bucket, spoon, fork, knife
guitar banjo ukulele, drum, violin fiddle, piano keyboard, flute recorder, trumpet tuba trombone, \
saxophone, bagpipe, accordion, cello, harp, harmonica, tambourine
cellphone phone telephone, camera camcorder, computer laptop, microphone, book magazine newspaper, \
flashlight, map
gun rifle pistol, sword, bow, hammer, shovel, broom, rake, axe, umbrella, flag, paddle oar
mouth lip tongue tooth beak, hand finger fist, paw, ear, eye, nose, tail
arm hand elbow shoulder, leg foot knee ankle, head face neck
hand, knee, foot, elbow, shoulder, head
red, blue, green, yellow, black, white
hood, beard mustache goatee, ponytail pigtail braid, mohawk, dreadlock
night, sunset dusk sunrise dawn
summer, winter, autumn fall, spring
sun, rain, snow, fog mist
airplane plane jet, bird seagull, kite, balloon, helicopter, cloud
goose, pigeon, duck, seagull gull, swan, chicken, eagle, parrot, owl
racket racquet, bat, puck, club, paddle, hockey
surfboard, paddle oar, canoe, net
brick, wood, stone, glass, metal, concrete
leather, denim, wool, silk, fur
"""

_ADJECTIVES = """
red maroon orange pink, blue turquoise teal purple, green teal, yellow gold golden orange, black, \
white, brown tan beige gold golden orange, gray grey silver, purple violet, pink, orange
black dark, white gray grey silver
blond blonde yellow golden, brunette, redheaded redhead, bald, gray-haired
big large huge giant enormous, small tiny little miniature
tall, short small
long, short
young younger: old elderly
old older elderly aged: young
wooden wood, metal steel iron, plastic, concrete cement stone brick, glass, paper cardboard, \
leather, rubber
striped, plaid checkered checked, spotted, floral flowered flowery
sandy, snowy icy, grassy, muddy, rocky, leafy wooded
wet, dry dusty
wide, narrow thin
thick, thin
empty, full crowded
open, closed
dirty muddy, clean
deep, shallow
dark, bright sunny
sunny clear, cloudy overcast foggy rainy stormy
hot, cold
fat, thin skinny
indoor, outdoor
male, female
happy smiling, sad angry
asleep, awake
curly, straight
shaggy fluffy furry hairy, bald shaven
calm, rough choppy
round, square
rural, urban
steep, flat
hooded, sleeveless
smaller, larger bigger
new, old
"""

#: Without an object.
_ACTIONS = """
run sprint jog race dash gallop trot, walk stroll hike march wander, sit, stand, lie lay sleep nap \
rest, crawl, swim wade, kneel crouch squat, ski, skate
jump leap hop dive, sit, lie lay sleep nap rest, crawl, kneel, walk stroll
stand, lie lay sleep nap, dance, swim, climb, crawl
ride: run, walk, stand, sleep, swim
smile laugh grin, cry frown, yell scream shout, sleep, sing
fly float, swim, walk
talk speak chat, sleep, eat, sing, dance, fight, read
read, eat, sleep, sing, dance, fight
surf, swim, ski, row, kayak
ski, surf, snowboard, skate, sled
skateboard, walk, ski, run, dance
play, sleep nap rest, eat, fight
swing, sit, stand, sleep, climb
slide, walk, run
dig, sleep, sit, run
bark growl, sleep, eat
"""

#: Done to something.
_DEEDS = """
ride, push pull drag, carry lift, wash clean, paint, repair fix, park
hold carry, throw toss, kick, push pull, wash, eat, paint, read, hit, cut
throw toss pitch, catch, kick, eat, carry hold, bury, paint, chase
catch, throw toss, kick, drop, bury
eat chew bite, throw toss, kick, carry, wash, cook, paint, cut, hold
drink, pour, spill
wear, carry, wash, throw
climb cross, paint, descend
drive, push, wash, paint, repair fix
kiss, hug, punch kick hit, lift, feed
lick kiss, bite, chase
chase follow, bite, carry, lick, ignore
read, write, eat, throw, burn
watch, ignore
open, close
enter, leave exit
"""

#: Where something is, and where it is then not.
RELATIONS: Mapping[str, tuple[str, ...]] = {
    "on": ("under", "behind"),
    "on top of": ("under", "behind"),
    "atop": ("under", "behind"),
    "above": ("under", "below"),
    "over": ("under",),
    "under": ("on", "over", "above"),
    "underneath": ("on", "over", "above"),
    "beneath": ("on", "over", "above"),
    "below": ("above", "over"),
    "inside": ("outside", "behind"),
    "outside": ("inside",),
    "in": ("under", "behind", "above"),
    "behind": ("in front of",),
    "in front of": ("behind",),
    "up": ("down",),
    "down": ("up",),
    "into": ("out of",),
    "out of": ("into",),
    "onto": ("off",),
    "off": ("onto",),
    "towards": ("away from",),
    "toward": ("away from",),
    "away from": ("towards",),
    "next to": ("under", "on top of", "inside"),
    "beside": ("under", "on top of", "inside"),
    "near": ("under", "on top of", "inside"),
}

_COUNTS = """
two, three, four, five, six, seven, eight
three, two, four, five, six
four, two, three, six
five, two, three, eight
six, two, three
2, 3, 4, 5, 6
seven, two, three
eight, two, three, five
"""

#: Too wide, or too vague, to be false in the place of another word.
WIDE_NOUNS = listed(
    """
    accessory activity adult animal apparatus area attire background body bottom canine center
    clothe clothes clothing couple creature crowd device equipment event face family female
    food foreground friend front furniture gear ground group guest human individual instrument
    item land landscape liquid machine male member middle object one onlooker other outdoors
    outfit owner pair part people performer person pet piece place player scene side something
    spectator structure surface team teammate teen teenager thing tool top toy vegetation
    vehicle view worker youngster youth
    """
)


@dataclass(frozen=True)
class Table:
    """A table, read.

    Attributes:
        others: the alternatives of each word.
        alike: the words that share a place with each word, itself among them.
    """

    others: Mapping[str, frozenset[str]]
    alike: Mapping[str, frozenset[str]]


def _read(text: str) -> Table:
    others, alike = dict[str, set[str]](), dict[str, set[str]]()
    for line in text.strip().splitlines():
        places = [frozenset(place.split()) for place in re.split("[:,]", line)]
        every = frozenset[str]().union(*places)
        for i, place in enumerate(places):
            for word in place:
                alike.setdefault(word, set()).update(place)
                if i == 0 or ":" not in line:
                    others.setdefault(word, set()).update(every - place)
    return Table(
        {word: frozenset(found - alike[word]) for word, found in others.items()},
        {word: frozenset(found) for word, found in alike.items()},
    )


NOUNS = _read(_NOUNS)
ADJECTIVES = _read(_ADJECTIVES)
ACTIONS = _read(_ACTIONS)
DEEDS = _read(_DEEDS)
COUNTS = _read(_COUNTS)
TABLES = (NOUNS, ADJECTIVES, ACTIONS, DEEDS, COUNTS)
