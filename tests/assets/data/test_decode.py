"""Images as they come, turned into what a person sees."""

import io

import numpy as np
import pillow_heif
import pytest
from PIL import Image

from seedbed.assets.data.decode import Undecodable, decode


def encoded(image: Image.Image, form: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def halves(width: int = 40, height: int = 20) -> Image.Image:
    """Red on the left, blue on the right."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 2, 0] = 255
    pixels[:, width // 2 :, 2] = 255
    return Image.fromarray(pixels)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_gives_what_the_photographer_saw(orientation: int) -> None:
    seen = halves()
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # the transposition that turns what was seen into what was stored
    stored = seen.transpose(Image.Transpose(undo[orientation])) if orientation > 1 else seen
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture = decode(encoded(stored, "PNG", exif=exif))
    assert (picture.width, picture.height) == (40, 20)
    assert np.array_equal(picture.pixels, np.asarray(seen))
    small = decode(encoded(stored, "PNG", exif=exif), size=16)
    assert small.pixels[8, 2].tolist() == [255, 0, 0] and small.pixels[8, 13].tolist() == [0, 0, 255]


def test_a_photograph_of_an_iphone_is_read_as_it_was_taken() -> None:
    out = io.BytesIO()
    pillow_heif.from_pillow(halves(64, 32)).save(out, quality=95)
    picture = decode(out.getvalue())
    assert (picture.width, picture.height, picture.format) == (64, 32, "HEIF")
    assert np.abs(picture.pixels.astype(int) - np.asarray(halves(64, 32))).mean() < 8
    with pytest.raises(Undecodable, match="64 x 32 pixels"):
        decode(out.getvalue(), pixel_limit=1000)


def test_cmyk_jpeg_keeps_its_colours() -> None:
    picture = decode(encoded(halves().convert("CMYK"), "JPEG", quality=95))
    assert np.abs(picture.pixels[10, 5].astype(int) - [255, 0, 0]).max() < 30
    assert np.abs(picture.pixels[10, 35].astype(int) - [0, 0, 255]).max() < 30


@pytest.mark.parametrize(("top", "form"), [(65535, "PNG"), (65535, "TIFF"), (4095, "TIFF"), (1023, "PNG")])
def test_deep_greyscale_is_scaled_by_its_true_range(top: int, form: str) -> None:
    ramp = np.linspace(0, top, 256).astype(np.uint16)[None].repeat(4, axis=0)
    pixels = decode(encoded(Image.fromarray(ramp), form)).pixels
    assert np.abs(pixels[0, :, 0].astype(int) - np.arange(256)).max() <= 1
    assert (pixels[..., 0] == pixels[..., 2]).all()


def test_floating_point_between_0_and_1_spans_the_whole_range() -> None:
    ramp = np.linspace(0, 1, 256, dtype=np.float32)[None].repeat(4, axis=0)
    assert decode(encoded(Image.fromarray(ramp), "TIFF")).pixels[0, [0, 128, 255], 1].tolist() == [0, 128, 255]


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_becomes_white(mode: str) -> None:
    clear = Image.new("RGBA", (8, 8), (200, 10, 10, 0)).convert("LA" if mode == "LA" else "RGBA")
    data = encoded(clear, "PNG") if mode != "P" else encoded(clear, "GIF")
    assert (decode(data).pixels == 255).all()


def test_half_transparent_red_on_white_is_pink() -> None:
    data = encoded(Image.new("RGBA", (4, 4), (255, 0, 0, 128)), "PNG")
    assert decode(data).pixels[0, 0].tolist() == pytest.approx([255, 127, 127], abs=1)


def test_of_an_animation_the_first_frame_counts() -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert decode(data).pixels[4, 4].tolist() == [255, 0, 0]


@pytest.mark.parametrize("mode", ["L", "1", "P", "YCbCr"])
def test_every_other_mode_becomes_rgb(mode: str) -> None:
    form = "JPEG" if mode == "YCbCr" else "PNG"
    assert decode(encoded(halves().convert(mode), form)).pixels.shape == (20, 40, 3)


def test_a_large_jpeg_scaled_while_decoding_looks_like_one_scaled_after(leaves: np.ndarray) -> None:
    large = Image.fromarray(leaves[3]).resize((800, 600), Image.Resampling.BICUBIC)
    data = encoded(large, "JPEG", quality=95)
    after = np.asarray(Image.open(io.BytesIO(data)).resize((96, 96), Image.Resampling.BILINEAR), int)
    assert np.abs(decode(data, size=96).pixels - after).mean() < 2


def test_more_pixels_than_the_limit_are_refused_before_they_are_decoded() -> None:
    bomb = encoded(Image.new("1", (20_000, 20_000)), "PNG")
    with pytest.raises(Undecodable, match="20000 x 20000 pixels") as refused:
        decode(bomb, pixel_limit=200_000_000)
    assert refused.value.bomb


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda data: b"", "empty"),
        (lambda data: b"hello" * 100, "not an image"),
        (lambda data: b"\0\0\0\x18ftypheic" + data, "damaged"),
    ],
)
def test_what_cannot_be_decoded_says_why(damage: object, reason: str, leaves: np.ndarray) -> None:
    data = encoded(Image.fromarray(leaves[0]), "JPEG")
    with pytest.raises(Undecodable, match=reason):
        decode(damage(data), size=32)  # type: ignore[operator]
