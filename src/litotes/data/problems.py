"""What pydantic found wrong, in one line."""

from pydantic import ValidationError


def problems(error: ValidationError) -> str:
    """Each problem with its place, such as ``0.queries: Field required``; three at most."""
    found = [
        ": ".join(filter(None, (".".join(map(str, e["loc"])), e["msg"])))
        for e in error.errors(include_url=False)
    ]
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
