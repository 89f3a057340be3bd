"""Images of items: only files that an item names, inside the folder of the images, of kinds browsers draw."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, HTTPException
from fastapi import Path as InPath
from fastapi.responses import Response
from PIL import Image

from labelsieve.data.readers.images import file_inside
from labelsieve.project.project import Project
from labelsieve.web.access import Visitor, visitor
from labelsieve.web.room import InRoom

LARGEST_ROW = 2**62
_LARGEST_FILE = 32 * 1024 * 1024
_MOST_PIXELS = 64_000_000
_SMALL = 96
_DRAWN = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp", "BMP": "image/bmp"}
_CONVERTED = ("TIFF", "PPM")

router = APIRouter(tags=["items"])


@router.get(
    "/items/{row}/image",
    response_class=Response,
    responses={200: {"content": {kind: {} for kind in _DRAWN.values()}}, 404: {"description": "no such image"}},
)
def image(
    room: InRoom,
    asking: Annotated[Visitor, Depends(visitor)],
    row: Annotated[int, InPath(ge=0, le=LARGEST_ROW)],
) -> Response:
    """The image of an item. Annotators see those that are asked about."""
    project = room.project
    if project.config.data.kind != "image" or row >= len(project.items):
        raise HTTPException(404, "There is no such image.")
    if asking.role != "admin" and not room.desk.is_asked(row):
        raise HTTPException(403, "This item is not asked about now.")
    ((_, content),) = project.items.take(np.array([row]))
    found = image_file(project, content)
    drawable = None if found is None else _drawable(found)
    if drawable is None:
        raise HTTPException(404, "The image cannot be shown: it is missing, too large or of an unknown kind.")
    body, kind = drawable
    return Response(body, media_type=kind, headers={"cache-control": "private, max-age=3600"})


def image_file(project: Project, content: str) -> Path | None:
    """The file that an item names; None if it is not a file of moderate size inside the folder of the images."""
    root = project.image_root()
    try:
        path = None if root is None else file_inside(root, content)
        fits = path is not None and path.is_file() and path.stat().st_size <= _LARGEST_FILE
    except (OSError, ValueError):
        return None
    return path if fits else None


def is_small(project: Project, content: str) -> bool:
    """Whether an image has so few pixels that they are better seen one by one."""
    path = image_file(project, content)
    try:
        if path is None:
            return False
        with Image.open(path) as opened:
            return max(opened.size) <= _SMALL
    except (OSError, ValueError, Image.DecompressionBombError):
        return False


def _drawable(path: Path) -> tuple[bytes, str] | None:
    """The bytes to send and their kind, which is found in the file and not believed from its name."""
    try:
        content = path.read_bytes()
        with Image.open(io.BytesIO(content), formats=[*_DRAWN, *_CONVERTED]) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                return None
            if opened.format in _DRAWN:
                return content, _DRAWN[opened.format]
            buffer = io.BytesIO()
            opened.convert("RGB").save(buffer, format="PNG")
            return buffer.getvalue(), "image/png"
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
