"""The package's own errors: each says what was wrong, where, and what would be right."""


class LitotesError(Exception):
    """Base of every error a user can cause; the command line prints it without a traceback."""


class LitotesWarning(UserWarning):
    """Something was done that the user may not have meant, such as cutting a long caption."""


class ModelError(LitotesError):
    """A model, checkpoint or adapter that cannot be loaded, or was asked for by a wrong name."""


class ImageError(LitotesError):
    """A file that cannot be read as a picture."""


class PhotoIndexError(LitotesError):
    """A photo index that cannot be opened, or was made by another image encoder."""


class DirectionError(LitotesError):
    """A negation direction that cannot be fitted, read, or used with this encoder."""


class DataError(LitotesError):
    """A data file that is missing or malformed; says the file, the line and what would be right."""
