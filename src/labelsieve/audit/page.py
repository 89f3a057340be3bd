"""The certificate as a page that needs no other file."""

from __future__ import annotations

from typing import Any

import jinja2

from labelsieve.audit.wording import percent, percent_at_most


def certificate_html(content: dict[str, Any]) -> str:
    """The page of a certificate; ids and labels come from users, so everything is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("labelsieve.audit"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "at_most": percent_at_most, "count": "{:,}".format}
    return environment.get_template("certificate.html.j2").render(certificate=content)
