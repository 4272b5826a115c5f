from constrained.kernel.completable cimport find_dead
from constrained.kernel.network cimport Network
from constrained.kernel.nullable cimport empty_items, find_nullable
from constrained.kernel.partition cimport find_classes
from constrained.kernel.program cimport Program
from constrained.kernel.pruning cimport drop_dead, is_possible
from constrained.kernel.regions cimport find_regions
from constrained.kernel.rule_writer cimport RuleWriter
from constrained.kernel.starts cimport add_root, make_starts

cpdef plain_program(Network net)
cpdef lower_plainly(RuleWriter writer, str root)
