"""Queries taken apart by hand: (query, what is affirmed, what is excluded)."""

Gold = tuple[str, str, tuple[str, ...]]

#: The wordings of plain exclusion.
EXCLUSIONS: list[Gold] = [
    ("a dog running, no ball", "a dog running", ("a ball",)),
    ("a beach without people", "a beach", ("people",)),
    ("a dog but no ball", "a dog", ("a ball",)),
    ("a dog, not a ball", "a dog", ("a ball",)),
    ("a dog and no ball", "a dog", ("a ball",)),
    ("a photo of a dog with no ball in it", "a dog", ("a ball",)),
    ("although there is a tree, there is no can", "there is a tree", ("a can",)),
    ("While there is a dog, there is no cat.", "there is a dog", ("a cat",)),
    ("though a man is running, no dog is near", "a man is running", ("a dog near",)),
    ("a street free of traffic", "a street", ("traffic",)),
    ("a garden devoid of flowers", "a garden", ("flowers",)),
    ("a wall bare of pictures", "a wall", ("pictures",)),
    ("a kitchen free from clutter", "a kitchen", ("clutter",)),
    ("a man in the absence of a hat", "a man", ("a hat",)),
    ("a cake missing a candle", "a cake", ("a candle",)),
    ("a house lacking a roof", "a house", ("a roof",)),
    ("a house that lacks a roof", "a house", ("a roof",)),
    ("houses that lack roofs", "houses", ("roofs",)),
    ("a desk w/o a computer", "a desk", ("a computer",)),
    ("a desk sans lamp", "a desk", ("a lamp",)),
    ("a desk minus the lamp", "a desk", ("the lamp",)),
    ("a room with zero chairs", "a room", ("chairs",)),
    ("a glass with hardly any water", "a glass", ("water",)),
    ("cars except red ones", "cars", ("red cars",)),
    ("a dog but not a big one", "a dog", ("a big dog",)),
    ("fruit other than apples", "fruit", ("apples",)),
    ("all animals except dogs", "all animals", ("dogs",)),
    ("everyone except the teacher", "everyone", ("the teacher",)),
    ("a dog instead of a cat", "a dog", ("a cat",)),
    ("tea rather than coffee", "tea", ("coffee",)),
    ("not a cat but a dog", "a dog", ("a cat",)),
    ("flowers, but not roses", "flowers", ("roses",)),
    ("a bridge but not a river", "a bridge", ("a river",)),
    ("dogs NOT cats", "dogs", ("cats",)),
    ("a room with no visible door", "a room", ("a door",)),
    ("a bike without a red helmet", "a bike", ("a red helmet",)),
    ("mountains without any snow on them", "mountains", ("snow",)),
    ("a kitchen with nobody in it", "a kitchen", ("a person",)),
    ("a horse with no one riding it", "a horse", ("a person riding a horse",)),
    ("a room with nothing on the walls", "a room", ("something on the walls",)),
    ("a square in which there are no people", "a square", ("people",)),
    ("a woman who hasn't got a bag", "a woman", ("a bag",)),
    ("a bag that has no handle", "a bag", ("a handle",)),
    ("a beach that doesn't have any umbrellas", "a beach", ("umbrellas",)),
    ("The room does not have a window.", "The room", ("a window",)),
    ("The shelf contains no books.", "The shelf", ("books",)),
    ("a plate with no food left", "a plate", ("food",)),
    ("a bus with no passengers inside", "a bus", ("passengers",)),
    ("a girl with no shoes on", "a girl", ("shoes",)),
    ("beach no people", "beach", ("people",)),
]

#: One cue that excludes several things, and several cues.
LISTS: list[Gold] = [
    ("neither dogs nor cats", "", ("dogs", "cats")),
    ("no people, no cars", "", ("people", "cars")),
    ("a man without a hat, glasses or a beard", "a man", ("a hat", "glasses", "a beard")),
    ("a house with no windows or doors", "a house", ("windows", "doors")),
    ("a park with neither benches nor trees", "a park", ("benches", "trees")),
    ("a man with neither a hat nor sunglasses", "a man", ("a hat", "sunglasses")),
    ("a dog that is neither black nor white", "a dog", ("a black dog", "a white dog")),
    ("an empty street, no cars, no people", "an empty street", ("cars", "people")),
    ("a man wearing a jacket, no hat, no gloves", "a man wearing a jacket", ("a hat", "gloves")),
    ("a sofa without a cat, a dog or a child", "a sofa", ("a cat", "a dog", "a child")),
    ("A street, without cars or people, at night.", "A street at night", ("cars", "people")),
    ("a boy with no shirt and white shorts", "a boy with white shorts", ("a shirt",)),
    ("a girl with no shoes and a lunchbox", "a girl with a lunchbox", ("shoes",)),
    ("a bed without sheets and pillows", "a bed", ("sheets", "pillows")),
    ("a man without a hat and a woman", "a man and a woman", ("a hat",)),
    ("a shirtless man without a hat", "a man", ("a shirt", "a hat")),
    (
        "a man without shoes or a shirt running on a beach",
        "a man running on a beach",
        ("shoes", "a shirt"),
    ),
    ("a treeless hill under a cloudless sky", "a hill under a sky", ("trees", "clouds")),
]

#: "Not" before verbs, adjectives, places and nouns.
PREDICATES: list[Gold] = [
    (
        "a girl riding a pony but not wearing a helmet",
        "a girl riding a pony",
        ("a girl wearing a helmet",),
    ),
    ("not a dog", "", ("a dog",)),
    ("a book not made of paper", "a book", ("a book made of paper",)),
    ("a dog that is not red", "a dog", ("a red dog",)),
    ("a man who isn't smiling", "a man", ("a man smiling",)),
    ("a cat, but there are no dogs", "a cat", ("dogs",)),
    ("a cat on a sofa, not sleeping", "a cat on a sofa", ("a cat sleeping",)),
    ("a child who has never worn glasses", "a child", ("a child wearing glasses",)),
    ("a child who doesn't wear glasses", "a child", ("a child wearing glasses",)),
    ("a bird that can't fly", "a bird", ("a bird flying",)),
    ("the sky is not blue", "the sky", ("the blue sky",)),
    ("The man is not wearing a helmet.", "The man", ("the man wearing a helmet",)),
    ("a cat that's not on the sofa", "a cat", ("a cat on the sofa",)),
    ("dogs not on a leash", "dogs", ("dogs on a leash",)),
    ("a window not open", "a window", ("an open window",)),
    ("an apple that isn't ripe", "an apple", ("a ripe apple",)),
    ("a door that is not closed", "a door", ("a closed door",)),
    ("flowers that aren't red", "flowers", ("red flowers",)),
    ("a couple not holding hands", "a couple", ("a couple holding hands",)),
    ("animals that are not mammals", "animals", ("mammals",)),
    ("a car that is not red but blue", "a car that is blue", ("a red car",)),
    ("a man wearing no shirt begins to jump", "a man begins to jump", ("a man wearing a shirt",)),
    ("a woman who isn't holding any bag", "a woman", ("a woman holding a bag",)),
    ("a cup that is not full of tea", "a cup", ("a cup full of tea",)),
    (
        "a woman holding a cup who refuses to drink",
        "a woman holding a cup",
        ("a woman drinking",),
    ),
    (
        "a boy holding a mug but not drinking from it",
        "a boy holding a mug",
        ("a boy drinking from a mug",),
    ),
    (
        "a man and a woman, but the woman is not smiling",
        "a man and a woman",
        ("the woman smiling",),
    ),
    (
        "a man not wearing a shirt is painting a wall",
        "a man is painting a wall",
        ("a man wearing a shirt",),
    ),
    ("a boy holding a phone without texting", "a boy holding a phone", ("a boy texting",)),
    ("two men, neither wearing a hat", "two men", ("two men wearing a hat",)),
    ("none of the people are wearing hats", "", ("people wearing hats",)),
    ("a boy holding a board who fails to surf", "a boy holding a board", ("a boy surfing",)),
    ("men near buildings not yet finished", "men near buildings", ("finished buildings",)),
    ("It isn't snowing.", "", ("snow",)),
]

#: The frame goes; the content stays.
FRAMES: list[Gold] = [
    ("There is no street in this picture.", "", ("a street",)),
    ("This image includes a ball but not a street.", "a ball", ("a street",)),
    ("This image does not include a ball.", "", ("a ball",)),
    ("There is a ball in this picture, but no street.", "a ball", ("a street",)),
    ("A ball can be seen here, without a street.", "A ball", ("a street",)),
    ("A ball cannot be seen here.", "", ("a ball",)),
    ("No ball: two dogs running", "two dogs running", ("a ball",)),
    ("Two dogs are running. There is no ball.", "Two dogs are running", ("a ball",)),
    ("a photo without people", "", ("people",)),
    ("a picture of a lake without boats", "a lake", ("boats",)),
    ("an image showing a street but no cars", "a street", ("cars",)),
    ("show me a beach without people", "a beach", ("people",)),
    ("I want pictures of dogs without leashes", "dogs", ("leashes",)),
    ("a photo not of a dog", "", ("a dog",)),
    ("this is not a dog", "", ("a dog",)),
    ("In this photo, there are no trees.", "", ("trees",)),
]

#: The cue stands behind the thing.
POSTPOSED: list[Gold] = [
    ("a boy wearing a dress with a hat absent", "a boy wearing a dress", ("a hat",)),
    ("a cup with its handle missing", "a cup", ("its handle",)),
    ("a table with a plate, knife not visible", "a table with a plate", ("a knife",)),
    ("a pizza with olives not visible", "a pizza", ("olives",)),
    ("the moon cannot be seen", "", ("the moon",)),
    ("cars are nowhere to be seen", "", ("cars",)),
    ("a wheel is missing from the car", "the car", ("a wheel",)),
    ("apple pie but the cream is absent", "apple pie", ("the cream",)),
]

#: Negation inside a word.
WORDS: list[Gold] = [
    ("a shirtless man", "a man", ("a shirt",)),
    ("a woman in a sleeveless, red dress", "a woman in a red dress", ("sleeves",)),
    ("a sleeveless orange dress", "an orange dress", ("sleeves",)),
    ("a man is shirtless and is waving", "a man is waving", ("a shirt",)),
    ("a smoke-free room", "a room", ("smoke",)),
    ("a car-free city", "a city", ("cars",)),
    ("an unlit candle", "a candle", ("a lit candle",)),
    ("a room with a candle that is unlit", "a room with a candle", ("a lit candle",)),
    ("an unoccupied bench", "a bench", ("an occupied bench",)),
]

#: "The" takes the place for granted.
PRESUPPOSED: list[Gold] = [
    ("no one is swimming in the pool", "the pool", ("a person swimming in the pool",)),
    ("there are no clouds in the sky", "the sky", ("clouds in the sky",)),
    ("no people in the background", "", ("people in the background",)),
]

#: Where articles belong and where not.
ARTICLES: list[Gold] = [
    ("no umbrella", "", ("an umbrella",)),
    ("no snow", "", ("snow",)),
    ("no hour glass", "", ("an hour glass",)),
    ("no uniform", "", ("a uniform",)),
    ("no sunglasses", "", ("sunglasses",)),
    ("no children", "", ("children",)),
    ("no bus", "", ("a bus",)),
    ("no TV", "", ("a TV",)),
    ("no other people", "", ("other people",)),
]

#: Words that look like a negation, and what affirms.
AFFIRMATIVE = [
    "a dog running",
    "a knot in a rope",
    "a notebook on a desk",
    "a no-parking sign",
    "a no parking sign on a wall",
    'a sign that says "no dogs"',
    "a 'no entry' sign",
    "a sign reading no smoking",
    "a player wearing no. 7",
    "No 5 on a jersey",
    "not only a dog but also a cat",
    "nothing but snow",
    "none other than a dog",
    "a Do Not Walk button",
    "a man pressing the don't walk button",
    "nothing compares to this view",
    "a homeless man",
    "a wireless mouse",
    "a careless driver",
    "unless it rains",
    "a united team in uniform",
    "there is no doubt that a dog is running",
    "no one can deny that there is a red cup",
    "this picture does not lack a bowl",
    "a photo of a Mexican hairless dog",
    "forget-me-nots in a vase",
    "an elephant in front of a tent",
    "a minus sign",
    "a hands-free phone",
    "",
    "🙂",
    "没有狗的海滩",
]

#: Double negation is put as what it affirms.
DOUBLE_NEGATIONS = [
    ("a man not without a hat", "a man with a hat"),
    ("no one without a helmet", "people with a helmet"),
    ("no dog without a collar", "a dog with a collar"),
    ("no dogs without collars", "dogs with collars"),
    ("a candle that is not unlit", "a candle that is lit"),
]

GOLD = [
    *EXCLUSIONS,
    *LISTS,
    *PREDICATES,
    *FRAMES,
    *POSTPOSED,
    *WORDS,
    *PRESUPPOSED,
    *ARTICLES,
]

#: Everything above.
PARSES: list[Gold] = [
    *GOLD,
    *((query, query, ()) for query in AFFIRMATIVE),
    *((query, affirmed, ()) for query, affirmed in DOUBLE_NEGATIONS),
]
