"""The main job on the sample photographs that scikit-image and scikit-learn ship.

Run by `make demo`: indexes them with the bundled model, then answers three queries, one plain
and two with a negation, each by the plain model and by the default strategy side by side.
"""

import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

DEMO = Path("demo")
QUERIES = ("a cat", "an animal, no cat", "the ground, no grass")
# Sample pictures that are patterns, pages or measurements, not photographs of things.
NOT_PHOTOGRAPHS = (
    *("chessboard_GRAY.png", "chessboard_RGB.png", "color.png", "logo.png", "multipage.tif"),
    *("multipage_rgb.tif", "phantom.png", "no_time_for_that_tiny.gif", "motorcycle_right.png"),
    *("cell.png", "ihc.png", "microaneurysms.png", "retina.jpg", "page.png", "text.png"),
)


def collect(folder: Path) -> None:
    """Copy the sample photographs into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in ("skimage.data", "sklearn.datasets.images"):
        for file in files(package).iterdir():
            if file.name.endswith((".png", ".jpg")) and file.name not in NOT_PHOTOGRAPHS:
                shutil.copyfile(str(file), folder / file.name)


def litotes(*arguments: str) -> None:
    """Run the command line as a user would, showing the command."""
    shown = " ".join(f'"{a}"' if " " in a else a for a in arguments)
    print(f"\n$ litotes {shown}", flush=True)
    subprocess.run([Path(sys.executable).with_name("litotes"), *arguments], check=True)


def main() -> None:
    """Index, then ask."""
    photos = DEMO / "photos"
    collect(photos)
    litotes("index", str(photos))
    for number, query in enumerate(QUERIES, 1):
        sheet = str(DEMO / f"query-{number}.html")
        litotes("search", str(photos), query, "-k", "5", "--compare", "--html", sheet)


if __name__ == "__main__":
    main()
