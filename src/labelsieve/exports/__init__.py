"""Labels as files for other tools: one file per format.

Ids, texts and labels are written exactly as they are, in CSV too: a text that begins with ``=`` or ``@`` stays so,
although a spreadsheet would take it for a formula. Import such a file as text instead of opening it.
"""

from labelsieve.exports.columns import COLUMNS
from labelsieve.exports.exporting import FORMATS, format_for, write_export
from labelsieve.exports.label_studio_answers import read_annotations
from labelsieve.exports.label_studio_config import labelling_config

__all__ = ["COLUMNS", "FORMATS", "format_for", "labelling_config", "read_annotations", "write_export"]
