"""What a scene may show: kinds of object, their colours and their company; backgrounds; sizes."""

from dataclasses import dataclass

RGB = tuple[int, int, int]

COLOURS: dict[str, RGB] = {
    "red": (214, 40, 40),
    "orange": (240, 130, 30),
    "yellow": (246, 207, 45),
    "green": (62, 160, 72),
    "blue": (50, 105, 214),
    "purple": (132, 72, 182),
    "pink": (242, 136, 178),
    "brown": (132, 84, 48),
    "black": (44, 44, 48),
    "white": (246, 246, 243),
    "gray": (142, 144, 150),
}
SIZES: dict[str, int] = {"small": 24, "medium": 32, "large": 42}
"""Side of the square an object is drawn in, in pixels of a scene of 96."""


@dataclass(frozen=True)
class Kind:
    """A kind of object.

    Attributes:
        name: its noun.
        plural: of the noun.
        category: what it is a kind of; see `CATEGORIES`.
        colours: those it can really have; of a person, those of the clothes.
        theme: the company it keeps; see `THEMES`.
    """

    name: str
    plural: str
    category: str
    colours: tuple[str, ...]
    theme: str

    @property
    def wears(self) -> bool:
        """Whether its colour is that of its clothes ("a man in red")."""
        return self.category == "person"


@dataclass(frozen=True)
class Background:
    """A place, or a time of day.

    Attributes:
        name: its noun.
        scene: a noun phrase for the whole scene ("a beach").
        where: a phrase that puts things there ("on the beach").
    """

    name: str
    scene: str
    where: str


CATEGORIES: dict[str, str | None] = {
    "animal": "animals",
    "person": "people",
    "vehicle": "vehicles",
    "plant": "plants",
    "tool": "tools",
    "food": None,
    "furniture": None,
    "thing": None,
}
"""Plurals of the categories that are nouns one can count; no caption names the others."""

BACKGROUNDS: dict[str, Background] = {
    b.name: b
    for b in (
        Background("beach", "a beach", "on the beach"),
        Background("snow", "a snowy field", "in the snow"),
        Background("kitchen", "a kitchen", "in the kitchen"),
        Background("street", "a street", "on the street"),
        Background("night", "a night scene", "at night"),
        Background("meadow", "a meadow", "in a meadow"),
        Background("forest", "a forest", "in the forest"),
        Background("desert", "a desert", "in the desert"),
        Background("mountains", "a mountain view", "in the mountains"),
        Background("room", "a living room", "in a living room"),
    )
}

THEMES: dict[str, tuple[str, ...]] = {
    "farm": ("meadow", "forest", "mountains"),
    "street": ("street", "night", "snow"),
    "kitchen": ("kitchen", "room"),
    "party": ("room", "kitchen", "night"),
    "home": ("room", "kitchen"),
    "garden": ("meadow", "forest"),
    "shore": ("beach", "desert"),
    "workshop": ("street", "snow", "room"),
    "wardrobe": ("room", "street", "night"),
    "wild": ("desert", "mountains", "forest", "snow"),
}
"""Where each theme is at home."""

_ANY = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "black", "white", "gray")
_PAINT = ("red", "yellow", "green", "blue", "black", "white", "gray")
_CLOTH = ("red", "yellow", "green", "blue", "purple", "pink", "black", "white", "gray", "brown")
_FUR = ("brown", "black", "white", "gray")
_WOOD = ("brown", "white", "black", "red", "green", "gray")
_BLOOM = ("red", "yellow", "pink", "white", "purple", "orange", "blue")
_CREAM = ("pink", "white", "brown", "yellow", "red", "purple")

_TABLE: dict[str, tuple[tuple[str, str | None, str, tuple[str, ...]], ...]] = {
    "farm": (
        ("cow", None, "animal", ("brown", "black", "white")),
        ("horse", None, "animal", _FUR),
        ("sheep", "sheep", "animal", ("white", "black", "gray")),
        ("pig", None, "animal", ("pink", "black", "brown")),
        ("goat", None, "animal", _FUR),
        ("chicken", None, "animal", ("white", "brown", "black", "red")),
        ("duck", None, "animal", ("yellow", "white", "brown", "black")),
        ("rabbit", None, "animal", _FUR),
        ("tractor", None, "vehicle", ("red", "green", "blue", "yellow", "orange")),
        ("barn", None, "thing", ("red", "brown", "white", "gray")),
    ),
    "street": (
        ("car", None, "vehicle", _PAINT),
        ("bus", "buses", "vehicle", ("red", "yellow", "green", "blue", "white", "orange")),
        ("truck", None, "vehicle", _PAINT),
        ("bicycle", None, "vehicle", (*_PAINT, "pink")),
        ("motorcycle", None, "vehicle", _PAINT),
        ("scooter", None, "vehicle", (*_PAINT, "pink")),
        ("mailbox", "mailboxes", "thing", ("red", "blue", "green", "gray", "yellow")),
        ("bench", "benches", "furniture", _WOOD),
        ("house", None, "thing", ("white", "red", "yellow", "blue", "pink", "gray", "brown")),
        ("man", "men", "person", _CLOTH),
    ),
    "kitchen": (
        ("cup", None, "thing", _ANY),
        ("teapot", None, "thing", _ANY),
        ("pot", None, "thing", ("red", "blue", "black", "gray", "green", "orange")),
        ("bottle", None, "thing", ("green", "brown", "blue", "red", "white")),
        ("bowl", None, "thing", _ANY),
        ("apple", None, "food", ("red", "green", "yellow")),
        ("banana", None, "food", ("yellow", "green", "brown")),
        ("tomato", "tomatoes", "food", ("red", "yellow", "green", "orange")),
        ("carrot", None, "food", ("orange", "purple", "yellow")),
        ("egg", None, "food", ("white", "brown", "blue")),
    ),
    "party": (
        ("cake", None, "food", _CREAM),
        ("cupcake", None, "food", _CREAM),
        ("donut", None, "food", _CREAM),
        ("balloon", None, "thing", _ANY),
        ("present", None, "thing", _ANY),
        ("candle", None, "thing", ("white", "red", "yellow", "blue", "green", "pink")),
        ("hat", None, "thing", _CLOTH),
        ("drum", None, "thing", ("red", "blue", "yellow", "green", "white", "black")),
        ("guitar", None, "thing", ("brown", "red", "black", "blue", "white")),
        ("girl", None, "person", _CLOTH),
    ),
    "home": (
        ("chair", None, "furniture", (*_WOOD, "blue", "yellow")),
        ("table", None, "furniture", _WOOD),
        ("sofa", None, "furniture", _CLOTH),
        ("stool", None, "furniture", (*_WOOD, "blue", "yellow")),
        ("bed", None, "furniture", _CLOTH),
        ("bookcase", None, "furniture", ("brown", "white", "black", "gray")),
        ("lamp", None, "thing", _ANY),
        ("clock", None, "thing", ("red", "brown", "black", "white", "blue", "green")),
        ("television", None, "thing", ("black", "gray", "white", "red")),
        ("vase", None, "thing", _ANY),
        ("cat", None, "animal", ("orange", "black", "white", "gray")),
    ),
    "garden": (
        ("tree", None, "plant", ("green", "orange", "yellow", "red")),
        ("flower", None, "plant", _BLOOM),
        ("bush", "bushes", "plant", ("green", "yellow", "red")),
        ("mushroom", None, "plant", ("red", "brown", "white", "orange")),
        ("butterfly", "butterflies", "animal", (*_BLOOM, "black")),
        ("frog", None, "animal", ("green", "brown", "yellow", "blue")),
        ("bird", None, "animal", ("red", "blue", "yellow", "green", "black", "white", "brown")),
        ("shovel", None, "tool", ("gray", "red", "green", "blue")),
        ("watering can", None, "tool", _PAINT),
        ("wheelbarrow", None, "tool", ("red", "green", "blue", "gray", "yellow")),
        ("bucket", None, "tool", _ANY),
    ),
    "shore": (
        ("boat", None, "vehicle", ("red", "blue", "white", "yellow", "green", "brown")),
        ("umbrella", None, "thing", _ANY),
        ("ball", None, "thing", _ANY),
        ("kite", None, "thing", _ANY),
        ("fish", "fish", "animal", ("orange", "blue", "red", "yellow", "gray", "purple")),
        ("turtle", None, "animal", ("green", "brown", "gray")),
        ("crab", None, "animal", ("red", "orange", "blue", "brown")),
        ("surfboard", None, "thing", _ANY),
        ("flag", None, "thing", ("red", "yellow", "green", "blue", "black", "white", "orange")),
        ("boy", None, "person", _CLOTH),
    ),
    "workshop": (
        ("hammer", None, "tool", ("gray", "red", "blue", "black", "yellow")),
        ("saw", None, "tool", ("brown", "red", "yellow", "blue", "black")),
        ("screwdriver", None, "tool", ("red", "yellow", "green", "blue", "orange", "black")),
        ("axe", None, "tool", ("gray", "red", "black", "blue")),
        ("paintbrush", "paintbrushes", "tool", _BLOOM),
        ("broom", None, "tool", ("yellow", "red", "blue", "green", "brown")),
        ("ladder", None, "thing", ("brown", "gray", "red", "yellow", "blue")),
        ("toolbox", "toolboxes", "thing", ("red", "blue", "gray", "yellow", "black", "green")),
        ("key", None, "thing", ("yellow", "gray", "brown", "red", "blue")),
        ("robot", None, "thing", ("gray", "blue", "red", "green", "yellow", "white")),
    ),
    "wardrobe": (
        ("shirt", None, "thing", _CLOTH),
        ("dress", "dresses", "thing", _CLOTH),
        ("shoe", None, "thing", _CLOTH),
        ("boot", None, "thing", _CLOTH),
        ("glove", None, "thing", _CLOTH),
        ("backpack", None, "thing", _ANY),
        ("suitcase", None, "thing", (*_ANY, "brown")),
        ("phone", None, "thing", ("black", "white", "gray", "red", "blue", "pink")),
        ("laptop", None, "thing", ("gray", "black", "white", "blue", "pink")),
        ("camera", None, "thing", ("black", "gray", "red", "blue", "white", "brown")),
        ("book", None, "thing", (*_ANY, "brown")),
        ("pencil", None, "thing", ("yellow", "red", "blue", "green", "orange", "purple")),
        ("woman", "women", "person", _CLOTH),
    ),
    "wild": (
        ("elephant", None, "animal", ("gray", "brown", "white")),
        ("bear", None, "animal", ("brown", "black", "white")),
        ("fox", "foxes", "animal", ("orange", "gray", "white")),
        ("snake", None, "animal", ("green", "brown", "black", "red", "yellow")),
        ("cactus", "cactuses", "plant", ("green", "gray", "yellow")),
        ("dog", None, "animal", _FUR),
        ("tent", None, "thing", ("green", "orange", "blue", "red", "yellow", "white")),
        ("airplane", None, "vehicle", ("white", "gray", "red", "blue", "yellow")),
        ("helicopter", None, "vehicle", ("red", "green", "blue", "yellow", "white", "black")),
        ("rocket", None, "vehicle", ("red", "white", "blue", "gray", "orange")),
        ("train", None, "vehicle", ("red", "green", "blue", "black", "yellow")),
    ),
}

KINDS: dict[str, Kind] = {
    name: Kind(name, plural or f"{name}s", category, colours, theme)
    for theme, rows in _TABLE.items()
    for name, plural, category, colours in rows
}
"""All kinds by name."""
