"""``labelsieve.toml``: what a project is about, in words people can read and change."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from labelsieve import registry
from labelsieve.errors import ProjectError, UnknownMethodError

Kind = Literal["text", "image", "table", "features"]


def _share(example: str) -> BeforeValidator:
    def checked(value: Any) -> Any:
        if not (isinstance(value, (int, float)) and 0 < value < 1):
            raise ValueError(f"expected a number strictly between 0 and 1 ({example}); got {value!r}")
        return value

    return BeforeValidator(checked)


Tolerance = Annotated[float, _share("0.05 allows 5 % wrong machine labels")]
Delta = Annotated[float, _share("0.05: the promise may fail in one run of 20")]
Count = Annotated[int, Field(ge=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataSection(_Section):
    """Where the items come from."""

    file: str = Field(description="file or folder with the items, relative to the project if it lies inside")
    kind: Kind = Field(description="what an item is: text, image, table (a row of numbers and categories) or features")
    text: str | None = Field(None, description="column with the text")
    image: str | None = Field(None, description="column with the path of the image, relative to the file")
    id: str | None = Field(None, description="column that names the items; row numbers if there is none")
    columns: tuple[str, ...] = Field((), description="columns of a table that become features")
    encoding: str | None = Field(None, description="of a CSV or JSONL file; UTF-8 if left out")


class FeatureSection(_Section):
    """What the classifier sees of an item."""

    text_model: str = Field("auto", description="sentence model beside TF-IDF: auto, none, or a name or path")
    image_model: str = Field("auto", description="auto, pixels, efficientnet-lite2, or a timm or open_clip name")
    svd_dimensions: Count = Field(400, description="numbers per text that TF-IDF is reduced to")


class LabellingSection(_Section):
    """What is promised, how many labels may be asked for, and the methods; see docs/methods.md."""

    tolerance: Tolerance = Field(0.05, description="share of wrong machine labels you accept")
    delta: Delta = Field(0.05, description="probability with which the promise may fail")
    train_budget: Count = Field(500, description="human labels to learn from")
    validation_budget: Count = Field(500, description="human labels to check with")
    seed_size: Count | None = Field(None, description="first batch; see docs/methods.md if left out")
    batch_size: Count | None = Field(None, description="later batches; see docs/methods.md if left out")
    classifier: str = Field("auto", description="method")
    training: str = Field("auto", description="method")
    confidence: str = Field("auto", description="method")
    thresholds: str = Field("certified", description="method")
    query: str = Field("margin-random", description="method")
    certified_rounds: Count = Field(1, description="in how many of the last rounds machine labels are given")
    stop_early: bool | Literal["auto"] = Field(
        "auto",
        description="ask for no more to learn from once that no longer pays; auto: if models train in seconds",
    )
    random_state: Annotated[int, Field(ge=0)] = Field(0, description="another one draws other points")

    @field_validator("classifier", "training", "confidence", "thresholds", "query")
    @classmethod
    def _known(cls, name: str, info: Any) -> str:
        known = registry.choices(info.field_name)
        if name not in known:
            raise ValueError(f"expected one of {', '.join(known)}; got {name!r}")
        return name


class PeopleSection(_Section):
    """Who labels."""

    overlap: Count = Field(1, description="how many people label each item; the majority counts")


class Config(_Section):
    """A whole ``labelsieve.toml``."""

    classes: tuple[str, ...] = Field(description="names of the classes")
    data: DataSection
    features: FeatureSection = FeatureSection()
    labelling: LabellingSection = LabellingSection()
    people: PeopleSection = PeopleSection()

    @model_validator(mode="after")
    def _makes_sense(self) -> Config:
        named = [name for name in self.classes if name.strip() and name.isprintable()]
        if len(named) < 2 or len(set(named)) < len(self.classes):
            raise ValueError(
                f"classes must be at least two different names, none of them blank; got {list(self.classes)}"
            )
        if self.data.kind == "text" and self.data.text is None:
            raise ValueError("data.text must name the column with the text")
        return self


_SECTIONS: dict[str, type[_Section]] = {
    "data": DataSection,
    "features": FeatureSection,
    "labelling": LabellingSection,
    "people": PeopleSection,
}


def read_config(path: Path) -> Config:
    """The configuration of a project; problems are all named at once."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProjectError(
            f"{path.parent} is no project: it has no {path.name}. Make one with `labelsieve init {path.parent} ...`."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"{path} is not valid TOML: {error}") from None
    return checked_config(written, str(path))


def checked_config(written: dict[str, Any], where: str) -> Config:
    """The configuration in a mapping."""
    try:
        return Config.model_validate(written)
    except (ValidationError, UnknownMethodError) as error:
        problems = error.errors() if isinstance(error, ValidationError) else []
        lines = [_in_words(problem) for problem in problems] or [str(error)]
        raise ProjectError(f"{where} cannot be used: " + "; ".join(lines)) from None


def _in_words(problem: Mapping[str, Any]) -> str:
    """The key, unless the problem is with several of them, and what is wrong."""
    key = ".".join(map(str, problem["loc"]))
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        message = _unknown_key(*map(str, problem["loc"]))
    elif isinstance(problem["input"], (int, float, str)) and "got" not in message:
        message += f"; got {problem['input']!r}"
    return f"{key}: {message}" if key else message


def _unknown_key(*path: str) -> str:
    """That there is no such key, which one may be meant, and which there are."""
    keys = {name: list(section.model_fields) for name, section in _SECTIONS.items()}
    *section, key = path
    here = keys[section[0]] if section else ["classes", *keys]
    elsewhere = {known: f"{name}.{known}" for name, among in keys.items() for known in among}
    near = get_close_matches(key, here, n=1)
    near = near or [elsewhere[known] for known in get_close_matches(key, elsewhere, n=1, cutoff=0.8)]
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"no such key{hint}; {f'[{section[0]}]' if section else 'the file'} has {', '.join(here)}"


def as_toml(config: Config) -> str:
    """The file with all keys, each with its meaning; what is not set is there as a comment."""
    lines = [f"# {Config.model_fields['classes'].description}", f"classes = {_toml(list(config.classes))}"]
    for name in _SECTIONS:
        section: _Section = getattr(config, name)
        lines += ["", f"# {section.__doc__}", f"[{name}]"]
        for key, field in type(section).model_fields.items():
            value = getattr(section, key)
            setting = f"# {key} =" if value in (None, ()) else f"{key} = {_toml(value)}"
            lines.append(f"{setting}  # {field.description}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Strings, numbers and lists of them are written in TOML as in JSON."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
