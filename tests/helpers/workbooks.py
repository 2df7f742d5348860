"""Workbooks of Excel with two sheets, as small as they can be."""

import io
import zipfile
from collections.abc import Iterable, Sequence

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATION = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
SHEET = f"""<worksheet {MAIN}><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>
<c r="C1" t="inlineStr"><is><t>hired</t></is></c></row>
<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>17</v></c><c r="C2" t="b"><v>0</v></c></row>
<row r="4"><c r="A4" t="str"><v>m</v></c><c r="C4" t="b"><v>1</v></c></row>
<row r="5"><c t="inlineStr"><is><r><t>a,</t></r><r><t> b</t></r><rPh><t>x</t></rPh></is></c>
<c t="n"><v>64.5</v></c></row>
</sheetData></worksheet>"""
PARTS = {
    "xl/workbook.xml": f'<workbook {MAIN} {RELATION}><sheets><sheet name="one" sheetId="1" r:id="b"/>'
    '<sheet name="two" sheetId="2" r:id="a"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="a" Target="worksheets/sheet2.xml"/>'
    '<Relationship Id="b" Target="/xl/worksheets/first.xml"/></Relationships>',
    "xl/worksheets/first.xml": SHEET,
    "xl/sharedStrings.xml": f"<sst {MAIN}><si><t>sex</t></si><si><t>age</t></si><si><t>f</t></si></sst>",
}


def book(**changes: str) -> bytes:
    """Return a workbook; ``changes`` are other contents of its parts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        more = {"xl/styles.xml": f"<styleSheet {MAIN}/>", "xl/worksheets/sheet2.xml": SHEET}
        for name, content in {**PARTS, **more}.items():
            packed.writestr(name, changes.get(name.rpartition("/")[2].removesuffix(".xml"), content))
    return stream.getvalue()


def sheet(rows: Iterable[Sequence[str]]) -> str:
    """Return a sheet whose rows lack empty cells at their end, as workbooks do."""
    cells = [
        [f'<c r="{"ABCDE"[i]}{n}" t="str"><v>{value}</v></c>' for i, value in enumerate(row) if value]
        for n, row in enumerate(rows, 1)
    ]
    written = "".join(f'<row r="{n}">{"".join(row)}</row>' for n, row in enumerate(cells, 1))
    return f"<worksheet {MAIN}><sheetData>{written}</sheetData></worksheet>"
