"""Small faults that a programmer makes, in the text of a C++ source: one changed operator, condition, constant or statement.

Comments, strings, character literals, preprocessor lines, includes and declarations at the edge of a file are left
alone; so is what only talks (asserts, diagnostics), since no result depends on it.
"""

import dataclasses
import re

# Each text may be replaced by the others of its group. Spaces exclude template arguments, references and pointers.
EXCHANGED = [
    ("comparison", r" (<=|>=|<|>|==|!=) ", {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
    ("logic", r" (&&|\|\|) ", {"&&": "||", "||": "&&"}),
    ("arithmetic", r"(?<![=(,\s]) ([+\-*/%]) (?=[\w(])", {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/"}),
    ("shift", r" (<<|>>) (?=\d|\w+[;)])", {"<<": ">>", ">>": "<<"}),
    ("bound", r"\bstd::(min|max)\b", {"min": "max", "max": "min"}),
    ("quantifier", r"\bllvm::(any_of|all_of)\b", {"any_of": "all_of", "all_of": "any_of"}),
    ("truth", r"\b(true|false)\b(?! *:)", {"true": "false", "false": "true"}),
    ("jump", r"^\s+(continue|break);", {"continue": "break", "break": "continue"}),
]
NEGATION = re.compile(r"(?<=[(&|] )!(?=\w)|(?<=\()!(?=\w)|(?<=return )!(?=\w)")
CONDITION = re.compile(r"\bif \((?![^;]*;)([^()]+(?:\([^()]*\)[^()]*)*)\)")
NUMBER = re.compile(r"(?<![\w.#-])([0-9]{1,6})(?![\w.'])")
STATEMENT = re.compile(r"^ +(?!return|break|continue|case|default|using|static|const|auto|struct|if|for|while|else|\}|[\w:<>,&*]+ [&*]?\w+( =|[;,{(]))"
                       r"[\w\]\[.>()*-]+[^;{}]*;$")
TALK = re.compile(r"\b(assert|static_assert|emit(Error|OpError|Warning|Remark)|attachNote|llvm_unreachable|LLVM_DEBUG|case|operator|"
                  r"template|#\w+|Status::error|concat)\b|<< *\"")
# These match the text before the brace that opens a class, and a function without a body.
CLASS = re.compile(r"\s*(?:(?:public|protected|private):\s*)*(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum)\b"
                   r"(?![^{]*\)\s*(?:const\s*)?$)", re.DOTALL)
PURE = re.compile(r" = 0;")


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault in which `line` (counted from 1) reads `after` in place of `before`."""

    kind: str
    line: int
    before: str
    after: str

    def apply(self, text):
        lines = text.split("\n")
        assert lines[self.line - 1] == self.before
        lines[self.line - 1] = self.after
        return "\n".join(lines)


def blanked(text):
    """Returns the text with comments and literals replaced by blanks of equal length, line by line."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
    return token.sub(lambda found: re.sub(r"[^\n]", "\x00", found.group()), text)


def begins_in_class(code):
    """Returns, for each line of blanked text, if it begins among the members of a class, where nothing is a statement."""
    head, scopes = "", [False]
    for line in code.replace("\x00", " ").split("\n"):
        yield scopes[-1]
        for char in "" if line.startswith("#") else line + "\n":
            if char == "{":
                scopes.append(CLASS.match(head) is not None)
            elif char == "}" and len(scopes) > 1:
                scopes.pop()
            head = "" if char in "{};" else head + char


def faults(text):
    """Returns all faults of this text, in the order of its lines."""
    found = []
    lines, all_code = text.split("\n"), blanked(text)
    for number, (line, code, in_class) in enumerate(zip(lines, all_code.split("\n"), begins_in_class(all_code)), 1):
        if not code.startswith("  ") or TALK.search(line) or (in_class and PURE.search(code)):
            continue

        def add(kind, begin, end, replacement, number=number, line=line):
            found.append(Fault(kind, number, line, line[:begin] + replacement + line[end:]))

        for kind, pattern, exchange in EXCHANGED:
            for match in re.finditer(pattern, code):
                add(kind, match.start(1), match.end(1), exchange[match.group(1)])
        for match in NEGATION.finditer(code):
            add("negation", match.start(), match.end(), "")
        for match in CONDITION.finditer(code):
            add("condition", match.start(1), match.end(1), "true")
            add("condition", match.start(1), match.end(1), "false")
        for match in NUMBER.finditer(code):
            add("constant", match.start(), match.end(), str(int(match.group()) + 1))
        if not in_class and STATEMENT.match(code) and code.count("(") == code.count(")"):
            indent = len(line) - len(line.lstrip())
            add("statement", indent, len(line), ";")
    return found
