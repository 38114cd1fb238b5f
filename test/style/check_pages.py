"""Holds the pages of docs/ and README.md to the words of the field.

Each row is a turn of phrase at which readers stopped, with words that mean one thing. Prose alone is looked at: code, what stands in
backticks, shown output and tables that a program writes are not. Exits with 1 when there is a complaint.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTEAD = {
    r"\b(?:stays?|travels?|sends?|sent|left|leaves?|kept|keeps?)(?: \w+)? exact(?:ly)?\b": "uncompressed",
    r"\bexact (?:ones?|layers?|operands?|collectives?|all-reduces?|gathers?|runs?|steps?|sums?)\b": "uncompressed",
    r"\bwith the bits of\b|\bto the bit\b|\bheld to\b": "bitwise equal to",
    r"\bwould hang one day\b": "may deadlock",
    r"\bas not finite\b": "as NaN or infinity",
    r"\bnobody reads any more\b": "standard output is closed (SIGPIPE)",
    r"\bwith a word\b|\ba word says\b": "a note says so",
    r"\binside of\b": "within, in",
    r"\bbehind (?:its|their|the) (?:last|mean|step|microbatch)\b|\bRight behind\b|\bgoes? on behind\b": "after",
    r"\bmeet (?:every|the others|over)\b": "find each other (rendezvous), average (local training)",
    r"(?:^|[.:] )(?:Of|Whether|Who) [a-z]": "a sentence with its subject first",
    r"(?:^|[.] )What (?!is|are|does|do|would|can|happens|else|must)[^.?]*\. ": "a sentence with its subject first",
    r"\bby what was\b|\bof that kind\b|\bsays? it instead\b": "the noun that is meant",
    r"\bpeers?\b": "ranks",
}


def prose(text):
    """The text of a page, with everything that is no prose blank; lines stay where they are."""
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])
    for code in (r"^ *```(?s:.*?)^ *```$", r"<!-- begin(?s:.*?)<!-- end", r"^ {4,}(?![-*\d]).*$", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(code, blank, text, flags=re.M)
    return text


def paragraphs(text):
    """(line number, paragraph as one line) of each block of prose."""
    for found in re.finditer(r"(?:^.*\S.*\n?)+", text, re.M):
        yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split())


def complaints(path):
    for line, paragraph in paragraphs(prose(path.read_text(encoding="utf-8"))):
        for pattern, better in INSTEAD.items():
            for found in re.finditer(pattern, paragraph):
                yield f"{path.relative_to(ROOT)}:{line}: '{found[0].strip()[:80]}': expected {better}"


def main():
    # The words are found in prose, across lines, and not in code.
    sample = "Biases stay exact.\n\n    a layer stays exact\n\n`stay exact`\n\nThey\nstay exact.\n"
    assert [line for line, text in paragraphs(prose(sample)) for pattern in INSTEAD if re.search(pattern, text)] == [1, 7]
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [each for path in pages for each in complaints(path)]
    print("\n".join(found), file=sys.stderr)
    print(f"check_pages: {len(pages)} pages, {len(INSTEAD)} turns of phrase, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
