"""Opening and finding pictures: formats, faults, and folders as people have them."""

import os
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

from litotes.data.images import find_images, open_image, scan_images
from litotes.errors import DataError, ImageError


def photo(seed: int = 0, width: int = 40, height: int = 24) -> Image.Image:
    """A picture with no symmetry, smooth so that JPEG keeps it."""
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    channels = [x, y, (x * y + seed / 7) % 1]
    return Image.fromarray((np.stack(channels, -1) * 255).astype(np.uint8))


def pixels(image: Image.Image) -> np.ndarray:
    assert image.mode == "RGB"
    return np.asarray(image).astype(int)


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises one-bit pixels and holds none."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0"))


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tiff", ".ppm", ".gif", ".webp"])
def test_lossless_formats_keep_their_pixels(tmp_path: Path, suffix: str) -> None:
    image = photo()
    if suffix == ".gif":
        image = image.quantize(16).convert("RGB")
    path = tmp_path / f"a{suffix}"
    image.save(path, **({"lossless": True} if suffix == ".webp" else {}))
    np.testing.assert_array_equal(pixels(open_image(path)), pixels(image))


@pytest.mark.parametrize("suffix", [".jpg", ".avif", ".heic", ".jp2"])
def test_lossy_formats_stay_close(tmp_path: Path, suffix: str) -> None:
    if suffix == ".heic":
        pytest.importorskip("pillow_heif")
    path = tmp_path / f"a{suffix}"
    photo().save(path, quality=95)
    assert np.abs(pixels(open_image(path)) - pixels(photo())).mean() < 4


def test_mislabelled_file_is_known_by_content(tmp_path: Path) -> None:
    path = tmp_path / "really_a_png.jpg"
    photo().save(path, format="PNG")
    np.testing.assert_array_equal(pixels(open_image(path)), pixels(photo()))


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tiff"])
def test_all_eight_exif_orientations_stand_upright(
    tmp_path: Path, orientation: int, suffix: str
) -> None:
    upright = photo()
    # Each orientation names a transformation; its inverse is what the camera stored.
    stored = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: np.rot90(a, 1),
        7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
        8: lambda a: np.rot90(a, -1),
    }[orientation](np.asarray(upright))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"a{suffix}"
    options = {"quality": 100, "subsampling": 0} if suffix == ".jpg" else {}
    Image.fromarray(np.ascontiguousarray(stored)).save(path, exif=exif, **options)

    image = open_image(path)
    assert image.size == upright.size
    assert np.abs(pixels(image) - pixels(upright)).max() <= (6 if suffix == ".jpg" else 0)
    with Image.open(path) as raw:
        reference = ImageOps.exif_transpose(raw).convert("RGB")
    np.testing.assert_array_equal(pixels(image), pixels(reference))


def test_broken_exif_does_not_cost_the_photo(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    photo().save(path, exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\x01\x12")
    assert open_image(path).size == (40, 24)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "RGB"])
def test_transparency_lies_on_white(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.png"
    if mode in ("RGBA", "LA"):
        image = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
        image.paste((0, 0, 0, 255), (0, 0, 2, 4))
        image.convert(mode).save(path)
    else:
        image = Image.new("RGB", (4, 4), (255, 0, 255))
        image.paste((0, 0, 0), (0, 0, 2, 4))
        if mode == "P":
            image = image.quantize(2)
            image.save(path, transparency=image.getpixel((3, 3)))
        else:
            image.save(path, transparency=(255, 0, 255))
    out = pixels(open_image(path))
    assert (out[:, :2] == 0).all()
    assert (out[:, 2:] == 255).all()


def test_half_transparent_is_mixed_with_white(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGBA", (2, 2), (0, 0, 0, 128)).save(path)
    assert np.abs(pixels(open_image(path)) - 127).max() <= 1


@pytest.mark.parametrize("suffix", [".png", ".tiff", ".pgm"])
def test_16_bit_grey_is_scaled_not_clipped(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    values = np.linspace(0, 65535, 64, dtype=np.uint16).reshape(8, 8)
    Image.fromarray(values).save(path)
    expected = np.rint(values / 257).astype(int)
    np.testing.assert_array_equal(pixels(open_image(path)), np.stack([expected] * 3, -1))


def test_big_endian_16_bit_tiff(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    values = np.linspace(0, 65535, 64, dtype=np.uint16).reshape(8, 8)
    tifffile.imwrite(path, values, byteorder=">", photometric="minisblack")
    np.testing.assert_array_equal(pixels(open_image(path))[..., 0], np.rint(values / 257))


@pytest.mark.parametrize("kind", ["float", "int32"])
def test_values_without_range_are_stretched(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.tif"
    ramp = np.linspace(0, 1, 256).reshape(16, 16)
    values = ramp.astype(np.float32) * 7 - 3 if kind == "float" else (ramp * 2e9).astype(np.int32)
    tifffile.imwrite(path, values, photometric="minisblack")
    assert np.abs(pixels(open_image(path))[..., 0] - np.arange(256).reshape(16, 16)).max() <= 1


def test_flat_float_with_nan(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    values = np.zeros((4, 4), np.float32)
    values[0, 0] = np.nan
    tifffile.imwrite(path, values, photometric="minisblack")
    assert (pixels(open_image(path)) == 0).all()


@pytest.mark.parametrize("mode", ["CMYK", "L", "1", "P", "YCbCr"])
def test_modes_become_rgb(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.tiff"
    image = photo().convert(mode)
    image.save(path)
    np.testing.assert_array_equal(pixels(open_image(path)), pixels(image.convert("RGB")))


def test_cmyk_jpeg(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    photo().convert("CMYK").save(path, quality=95)
    assert np.abs(pixels(open_image(path)) - pixels(photo())).mean() < 4


@pytest.mark.parametrize("suffix", [".gif", ".webp", ".png"])
def test_of_an_animation_the_first_frame(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "green", "blue")]
    options = {"lossless": True} if suffix == ".webp" else {}
    frames[0].save(path, save_all=True, append_images=frames[1:], **options)
    assert (pixels(open_image(path)) == (255, 0, 0)).all()


def test_one_pixel(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGB", (1, 1), "red").save(path)
    assert pixels(open_image(path)).tolist() == [[[255, 0, 0]]]


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".gif", ".webp", ".tiff", ".bmp", ".avif"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.9])
def test_cut_short_is_refused(tmp_path: Path, suffix: str, part: float) -> None:
    path = tmp_path / f"a{suffix}"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(ImageError, match=f"a{suffix}: .*(damaged|cut short|not a picture)"):
        open_image(path)


def test_faults_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "text.jpg").write_text("not a picture at all")
    (tmp_path / "x.jpg").mkdir()
    (tmp_path / "broken.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (tmp_path / "loop.jpg").symlink_to(tmp_path / "loop.jpg")
    os.mkfifo(tmp_path / "pipe.jpg")
    for name, reason in {
        "empty.jpg": "zero bytes",
        "text.jpg": "not a picture",
        "x.jpg": "is a folder",
        "broken.jpg": "does not exist",
        "missing.jpg": "does not exist",
        "loop.jpg": "cannot be read",
        "pipe.jpg": "not a regular file",
    }.items():
        with pytest.raises(ImageError, match=f"{name}: .*{reason}"):
            open_image(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    photo().save(path)
    path.chmod(0)
    with pytest.raises(ImageError, match="permission denied"):
        open_image(path)


@pytest.mark.parametrize("size", [(20_000, 10_000), (100_000, 100_000)])
def test_decompression_bomb_is_refused_before_decoding(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(*size))
    with pytest.raises(ImageError, match=r"bomb.png: has more than 178 million pixels"):
        open_image(path)


def test_bomb_limit_holds_where_the_program_lifted_pillows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(20_000, 10_000))
    with pytest.raises(ImageError, match="178 million"):
        open_image(path)


def test_strip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "strip.png"
    Image.new("1", (5000, 1)).save(path)
    with pytest.raises(ImageError, match="5000 × 1"):
        open_image(path)


def test_large_picture_is_read_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 500)  # so that 40 × 24 is in the range
    path = tmp_path / "large.png"
    photo().save(path)
    warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
    assert open_image(path).size == (40, 24)
    assert not recwarn.list


def test_eps_is_not_run_through_ghostscript(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    photo().save(path, format="EPS")
    with pytest.raises(ImageError, match="not a picture"):
        open_image(path)


def test_find_images(tmp_path: Path) -> None:
    for name in ("b.JPG", "a.png", "sub/c.webp", "sub/deep/d.HEIC", "sub.jpg/e.tif", "ä.jpeg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("notes.txt", ".hidden/f.jpg", "._a.png", ".litotes/g.jpg", "noextension"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.jpg")
    found = find_images(tmp_path)
    assert found == sorted(found)
    assert {path.relative_to(tmp_path).as_posix() for path in found} == {
        *("a.png", "b.JPG", "sub/c.webp", "sub/deep/d.HEIC", "sub.jpg/e.tif", "ä.jpeg")
    }


def test_links_are_followed_once(tmp_path: Path) -> None:
    root, outside = tmp_path / "photos", tmp_path / "outside"
    for folder in (root / "real", outside):
        folder.mkdir(parents=True)
        (folder / "a.jpg").touch()
    (root / "real" / "loop").symlink_to(root)
    (root / "also").symlink_to(root / "real")
    (root / "away").symlink_to(outside)
    (root / "away2").symlink_to(outside)
    (root / "file.jpg").symlink_to(outside / "a.jpg")
    found = [path.relative_to(root).as_posix() for path in find_images(root)]
    assert len(found) == 3
    assert {"real/a.jpg", "file.jpg"} < set(found)


def test_broken_link_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").symlink_to(tmp_path / "nowhere")
    errors = []
    assert list(scan_images(tmp_path, lambda path, error: errors.append((path, error)))) == []
    assert [(path, type(error)) for path, error in errors] == [("a.jpg", FileNotFoundError)]


def test_name_that_is_not_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.png")
    photo().save(tmp_path / "plain.png")
    (tmp_path / "plain.png").rename(tmp_path / name)
    (path,) = find_images(tmp_path)
    assert os.fsencode(path.name) == b"caf\xe9.png"
    assert open_image(path).size == (40, 24)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.touch()])
def test_not_a_folder(tmp_path: Path, make) -> None:
    make(tmp_path / "x")
    with pytest.raises(DataError, match="x: is not a folder"):
        find_images(tmp_path / "x")
