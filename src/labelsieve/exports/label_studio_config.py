"""The labelling interface of a Label Studio project, in its XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from labelsieve.errors import ConfigurationError
from labelsieve.types import Label

LABEL_NAME, ITEM_NAME = "label", "item"
ITEM_ID = "item_id"
DATA_KEYS = {"text": "text", "image": "image", "table": "table", "features": "id"}
"""Where the data of a task have what is shown; of bare features there is nothing to show but the id."""

_TAGS = {"text": "Text", "image": "Image", "table": "Table", "features": "Text"}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def labelling_config(classes: Sequence[Label], kind: str) -> str:
    """One item and one choice among the classes, by mouse or number key."""
    if kind not in _TAGS:
        raise ConfigurationError(f"kind must be one of {', '.join(map(repr, _TAGS))}; got {kind!r}.")
    unfit = [name for name in map(str, classes) if _NOT_IN_XML.search(name) or not name.strip()]
    if unfit:
        raise ConfigurationError(
            f"Class names for Label Studio must not be blank or hold control characters; got {unfit[0]!r}. Rename it."
        )
    choices = "".join(f"    <Choice value={quoteattr(str(name))}/>\n" for name in classes)
    return (
        "<View>\n"
        f'  <{_TAGS[kind]} name="{ITEM_NAME}" value="${DATA_KEYS[kind]}"/>\n'
        f'  <Choices name="{LABEL_NAME}" toName="{ITEM_NAME}" choice="single" showInline="true">\n'
        f"{choices}"
        "  </Choices>\n"
        "</View>\n"
    )
