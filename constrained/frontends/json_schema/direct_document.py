# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""From what a caller gives to the rules of a plain document: the way that most schemas take, without a detour.

``Front`` reads the text (``direct_text``), finds the dialect and the tables of its kind of document (``Way``), and has
``direct`` write the rules. Everything that is rarer is a call back to who made the ``Front``: values that are no text,
dialects of unusual names, a way that is new. None means that the document has to be read without ``direct``, which may
well be an error.
Cost: 2 us beside the reading of the text and the writing of the rules.
"""

from __future__ import annotations

from gc import disable, enable, isenabled

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import ConstrainedError
from constrained.frontends.json_schema.direct_reading import NotPlain
from constrained.frontends.json_schema.document import Document
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.shapes import shapes_of
from constrained.grammar.ir import RuleSet

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct import Writer
    from cython.cimports.constrained.frontends.json_schema.direct_text import TextReader, is_nameless
    from cython.cimports.constrained.frontends.json_schema.shapes import Checked
else:
    from constrained.frontends.json_schema.direct import Writer
    from constrained.frontends.json_schema.direct_text import TextReader, is_nameless
    from constrained.frontends.json_schema.shapes import Checked

MOST_CHARS = cython.declare(cython.int, 12_000)
"""Of a schema whose rules may be many and still be written in a moment (``RuleSet.sure``)."""
MOST_WAYS = cython.declare(cython.int, 16)
"""Combinations of dialect, spelling and limits whose tables are kept."""


@cython.final
@cython.cclass
class Way:
    """How documents are read and written: the dialect, the spelling and the limits, with what they share.

    Args:
        dialect, limits, options: told apart by; ``options`` by value and type.
        tables: None where no document of this kind is plain.
        texts: the texts of scalars that ``normalise`` and ``emit`` keep; beyond ``most_texts`` all are forgotten.
        host: makes of ``(writer, root, strict)`` what ``direct`` asks.
    """

    def __init__(self, dialect, limits, options: tuple, tables, texts: dict, most_texts: int, host):
        self.dialect = dialect
        self.old_ids = dialect.id_keyword == "id"
        self.shapes = shapes_of(dialect)
        self.limits = limits
        self.options = options
        self.tables = tables
        self.texts = texts
        self.most_texts = most_texts
        self.host = host

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fits(self, dialect, limits, options: tuple) -> cython.int:
        i: cython.Py_ssize_t
        if self.dialect is not dialect or (self.limits is not limits and self.limits != limits):
            return False
        mine: tuple = self.options
        for i in range(len(mine)):
            if mine[i] is not options[i] and (type(mine[i]) is not type(options[i]) or mine[i] != options[i]):
                return False
        return True


@cython.final
@cython.cclass
class Front:
    """Reads documents.

    Args:
        read: from ``(schema, limits)`` to the value; raises for what is no JSON.
        find_dialect: from ``(draft, value, registry)`` to the dialect; raises for an unknown one.
        uris: what ``$schema`` says, and the dialect; None stands for no ``$schema``.
        make: from ``(dialect, limits, options)`` to a ``Way``; raises for wrong options.
    """

    def __init__(self, read, find_dialect, uris: dict, make):
        self.read = read
        self.find_dialect = find_dialect
        self.uris = uris
        self.make = make
        self.ways = []

    def rules(self, schema, draft, registry, limits, options: tuple, strict: bool):
        """The ``RuleSet`` of a schema; None where it has to be read without ``direct``.

        Raises what ``read``, ``find_dialect`` and ``make`` raise.
        """
        collected: cython.bint = isenabled()
        if collected:
            disable()  # as ``garbage.postponed``
        try:
            return self.rules_of(schema, draft, registry, limits, options, strict)
        finally:
            if collected:
                enable()

    @cython.cfunc
    def rules_of(self, schema, draft, registry, limits, options: tuple, strict: bool):
        value: object = None
        dialect: object = None
        seen: cython.int = -1
        reader: TextReader
        if type(schema) is str and len(cython.cast(str, schema)) <= limits.max_source_chars:
            reader = TextReader.__new__(TextReader)
            if reader.read(schema):
                value = reader.value
                seen = reader.seen
        if seen < 0:
            value = self.read(schema, limits)
        if draft is None and type(value) is dict:
            said: object = cython.cast(dict, value).get("$schema")
            if said is None or type(said) is str:
                dialect = self.uris.get(said)
        if dialect is None:
            dialect = self.find_dialect(draft, value, registry)
        way: Way = self.way_of(dialect, limits, options)
        if way.tables is None:
            return None
        if seen < 0 or not is_nameless(seen, way.old_ids):
            document = Document(value, dialect, registry)
            if not document.plain or document.mentioned:
                return None
        if len(way.texts) > way.most_texts:  # the emitter would forget them in the midst of a document
            way.texts.clear()
            way.tables.forget()
        checked: Checked = Checked.__new__(Checked)
        if not checked.begin(way.shapes, value, limits, seen < 0):
            return None
        writer: Writer = Writer.__new__(Writer)
        writer.take(way.tables, way.host, value, strict, way.shapes, checked)
        sure: cython.bint = False
        try:
            writer.run()
            sure = seen >= 0 and len(cython.cast(str, schema)) <= MOST_CHARS and writer.is_sure()
        except (NotPlain, NotEnforced, ConstrainedError, RecursionError):
            return None
        finally:
            writer.end()  # no cycle is left behind
        found = RuleSet.__new__(RuleSet)  # without a call of what Python has written for it
        found.rules = writer.rules
        found.root = "root"
        found.sure = len(writer.rules) if sure else 0
        return found

    @cython.cfunc
    def way_of(self, dialect, limits, options: tuple) -> Way:
        way: Way
        for one in self.ways:
            way = one
            if way.fits(dialect, limits, options):
                return way
        way = self.make(dialect, limits, options)
        self.ways.insert(0, way)  # in place: other threads read the list
        del self.ways[MOST_WAYS:]
        return way
