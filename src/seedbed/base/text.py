"""Text from outside: what every database can keep and every page can show."""

import os
import re

_NOT_PLAIN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, halves of characters


def is_plain(text: str) -> bool:
    """Whether a text has neither control characters nor halves of characters, which databases refuse."""
    return _NOT_PLAIN.search(text) is None


def problems_of_text(what: str, text: str, *, longest: int, may_be_empty: bool = False) -> list[str]:
    """What is wrong with a short text that a person gave, one sentence each; none: it can be kept."""
    problems = []
    if not text and not may_be_empty:
        problems.append(f"{what} is empty.")
    if len(text) > longest:
        problems.append(f"{what} has {len(text)} characters; at most {longest} are kept.")
    if not is_plain(text):
        problems.append(f"{what} holds control characters or broken ones.")
    if text != text.strip():
        problems.append(f"{what} begins or ends with a space.")
    return problems


def readable(name: str) -> str:
    """A file's name as text; where its bytes are no UTF-8, as on old cameras and disks, as Windows reads them."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return made_plain(os.fsencode(name).decode("cp1252", errors="replace"), longest=len(name) * 4)
    return name


def decoded(data: bytes) -> str:
    """A text file's bytes as text: UTF-8, with or without its mark, or else what spreadsheets on Windows write."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def made_plain(text: str, *, longest: int) -> str:
    """The text as it can be kept: what cannot be is replaced by a mark, what is too long is cut."""
    return _NOT_PLAIN.sub("\ufffd", text[:longest])
