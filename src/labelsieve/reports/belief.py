"""Why the numbers of a run can or cannot be believed, in plain sentences."""

from __future__ import annotations

from labelsieve.engine.run import Run
from labelsieve.reports.summary import Summary, Wrong
from labelsieve.reports.wording import display_name, percent, plural

_PROMISES = {
    "CertifiedRule": (
        "The rule that set the thresholds, CertifiedRule, promises nothing here.",
        "It was run with validation_reuse='reuse': the same held-out labels served round after round, and the pool "
        "changed under them.",
    ),
    "PaperRule": (
        "The rule that set the thresholds, PaperRule, promises nothing.",
        "Its safety margin does not shrink as points are added, so a handful without an error is enough for it; it "
        "takes the lowest of many candidate thresholds without correcting for having tried many; and the same "
        "held-out points serve round after round.",
    ),
}


def headline(summary: Summary) -> tuple[str, str, str]:
    """The error as a label, a figure and what it was counted on; never a zero where nothing was counted."""
    tolerance = f"tolerance of {percent(summary.tolerance)}"
    if not summary.machine:
        return "Wrong machine labels", "no machine labels", f"so there is no error to report; run at a {tolerance}"
    if summary.truth is not None and summary.truth.share is not None:
        verdict = "within" if summary.truth.share <= summary.tolerance else "above"
        return (
            "Wrong machine labels",
            percent(summary.truth.share),
            f"{fraction(summary.truth)}, against the truth; {verdict} the {tolerance}",
        )
    if summary.held_out.share is None:
        return "Wrong machine labels", "not known", f"no held-out point reached a threshold; run at a {tolerance}"
    basis = f"held-out points at or above the thresholds, which were chosen on them; run at a {tolerance}"
    if not summary.held_out.wrong:
        # "0 %" would read as a promise; what is known is that none was seen.
        return "Wrong, estimated", f"0 seen in {summary.held_out.of:,}", basis
    return "Wrong, estimated", f"≈ {percent(summary.held_out.share)}", f"{fraction(summary.held_out)} {basis}"


def promise(run: Run) -> tuple[str, str]:
    """What the threshold rule promises: one sentence to stand out, and the reason."""
    if run.settings["certified"] and not run.machine_labels:
        return (
            "Nothing is promised, since nothing is labelled by machine.",
            "A machine label is given only once an exact test on held-out labels has passed.",
        )
    if run.settings["certified"]:
        return (
            f"Certified: with probability {percent(1 - run.settings['delta'])} or more, at most "
            f"{percent(run.settings['tolerance'])} of the machine labels are wrong.",
            "The promise is about the machine labels of this run, all classes together. It comes from an exact test on "
            "held-out labels that were drawn at random from the same pool and used once; it holds whatever the "
            "classifier or the confidence function, provided that the human labels are right.",
        )
    rule = str(run.settings["thresholds"]).partition("(")[0]
    return _PROMISES.get(
        rule,
        (f"The thresholds were set by {rule}.", "This page does not know what that rule promises; its author should."),
    )


def grounds(summary: Summary) -> list[str]:
    """What the error shown rests on."""
    if not summary.rounds:
        return ["No model was trained, so nothing was labelled by machine."]
    if not summary.machine:
        return [
            "No class reached a threshold that passed, so nothing was labelled by machine. The last round had "
            f"{plural(summary.rounds[-1].report.threshold_points, 'held-out point')} to set thresholds on. More "
            "held-out labels, more training labels or a higher tolerance may change that."
        ]
    sentences = []
    if summary.truth is not None:
        sentences.append(
            f"The truth was given and all {plural(summary.machine, 'machine label')} were compared with it, so the "
            "error shown is a count, not an estimate."
        )
        sentences.extend(_classes_above(summary))
    if summary.held_out.share is not None:
        estimate = f"{fraction(summary.held_out)} held-out points at or above the thresholds are wrong"
        sentences.append(
            f"Without the truth, the held-out points would have to do: {estimate} ({percent(summary.held_out.share)})."
            if summary.truth is not None
            else f"The error is an estimate: {estimate}. The thresholds were chosen on these very points, which "
            f"flatters the estimate{_so(summary)}"
        )
    return sentences


def _so(summary: Summary) -> str:
    return ", and which the promise allows for." if summary.certified else "; expect the true error to be higher."


def weakest(summary: Summary) -> str | None:
    """The machine labels with the thinnest evidence, and how little it says."""
    if summary.weakest is None:
        return None
    weak = summary.weakest
    return (
        f"The thinnest evidence: the {plural(weak.machine_labels, 'machine label')} of class "
        f"“{display_name(weak.name)}” in round {weak.round_number} rest on "
        f"{plural(weak.held_out.of, 'held-out point')}, {weak.held_out.wrong or 'none'} of them wrong. Even had that "
        f"threshold been fixed beforehand, an error of up to {percent(weak.held_out.upper_bound)} would be compatible "
        "with that (exact one-sided 95\u00a0% bound)."
    )


def fraction(count: Wrong) -> str:
    """3 of 297."""
    return f"{count.wrong:,} of {count.of:,}"


def _classes_above(summary: Summary) -> list[str]:
    labelled = [(row.truth.share, row) for row in summary.classes if row.truth and row.truth.share is not None]
    above = [(share, row) for share, row in labelled if share > summary.tolerance]
    if not above:
        return []
    share, worst = max(above, key=lambda pair: pair[0])
    return [
        f"The error is not spread evenly: it exceeds {percent(summary.tolerance)} in {len(above)} of "
        f"{plural(len(labelled), 'class')} with machine labels, most of all in class “{display_name(worst.name)}” "
        f"({percent(share)}, {fraction(worst.truth or Wrong(0, 0))})."
    ]
