"""Which rows of a sequence a rank has, and which of them attend to which in a step of a ring. The C++ library has the same plan
(src/ops/distributed/attention/plan.cpp)."""

from __future__ import annotations

import functools
import operator
from typing import NamedTuple, Sequence

LAYOUTS = ("contiguous", "zigzag")


class Rows(NamedTuple):
    """Neighbouring rows."""

    begin: int
    length: int


class Part(NamedTuple):
    """Rows of queries and keys that attend to each other, in the memory of their ranks."""

    query: int
    queries: int
    key: int
    keys: int


class Item(NamedTuple):
    """A call of attention: rows in the memory of their ranks, and a window around attention's own key; -1: open. If it is packed,
    its rows contain those of its parts, in increasing order, and the window is that of each part."""

    query: int
    queries: int
    key: int
    keys: int
    left: int = -1
    right: int = -1
    parts: tuple[Part, ...] = ()

    @property
    def is_full(self) -> bool:
        return self.left < 0 and self.right < 0


def _packed_zigzag(lengths: Sequence[int], ranks: int, rank: int) -> list[Rows]:
    pieces, result = 2 * ranks, []
    begin, first = 0, 0  # first: the piece that gets the first row that is left
    for length in lengths:
        each, left = divmod(length, pieces)

        def before(i: int) -> int:
            return i * each + min(max(i - first, 0), left) + min(max(first + left - pieces, 0), i)

        for i in (rank, pieces - 1 - rank):
            if before(i + 1) > before(i):
                result.append(Rows(begin + before(i), before(i + 1) - before(i)))
        begin += length
        first = (first + left) % pieces
    return result


def context_rows(
    layout: str, rows: int, ranks: int, rank: int, *, lengths: Sequence[int] | None = None
) -> list[Rows]:
    """The rows of a rank, in the order in which it has them.

    layout: "contiguous": the rank-th of `ranks` pieces; "zigzag": of 2 * ranks pieces, piece `rank`, and 2 * ranks - 1 - rank
    rows: of the sequence; piece i of n begins at i * rows // n
    lengths: of packed sequences, `rows` rows in all; zigzag then cuts each of them, and numbers of rows of two ranks differ by at
        most 1
    Raises ValueError.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"kaio: context_rows: argument layout is {layout!r}; it is 'contiguous' or 'zigzag'")
    if rows < 0 or ranks < 1 or not 0 <= rank < ranks:
        raise ValueError(f"kaio: context_rows: {rows} rows and rank {rank} of {ranks} ranks")
    if lengths is not None:
        lengths = [operator.index(n) for n in lengths]
        if any(n < 0 for n in lengths) or sum(lengths) != rows:
            raise ValueError(f"kaio: context_rows: argument lengths is {lengths}, which are not those of {rows} rows")
        if layout == "zigzag":
            return _packed_zigzag(lengths, ranks, rank)
    count = ranks * (2 if layout == "zigzag" else 1)

    def piece(i: int) -> Rows:
        begin = i * rows // count
        return Rows(begin, (i + 1) * rows // count - begin)

    return [piece(rank)] if layout == "contiguous" else [piece(rank), piece(count - 1 - rank)]


def count_of(rows: Sequence[Rows]) -> int:
    return sum(r.length for r in rows)


def joined(rows: Sequence[Rows]) -> list[Rows]:
    result: list[Rows] = []
    for r in rows:
        if r.length == 0:
            continue
        if result and result[-1].begin + result[-1].length == r.begin:
            result[-1] = Rows(result[-1].begin, result[-1].length + r.length)
        else:
            result.append(r)
    return result


def _item(q: Rows, k: Rows, left: int, right: int) -> Item | None:
    q_end, k_end = q.begin + q.length, k.begin + k.length
    k0 = k.begin if left < 0 else max(k.begin, q.begin - left)
    k1 = k_end if right < 0 else min(k_end, q_end + right)
    if q.length == 0 or k0 >= k1:
        return None
    q0 = q.begin if right < 0 else max(q.begin, k0 - right)
    q1 = q_end if left < 0 else min(q_end, k1 + left)
    if q0 >= q1:
        return None
    # attention aligns the last query with the last key
    binds_left = left >= 0 and q1 - 1 - left > k0
    binds_right = right >= 0 and q0 + right < k1 - 1
    return Item(q0 - q.begin, q1 - q0, k0 - k.begin, k1 - k0, left + k1 - q1 if binds_left else -1,
                right + q1 - k1 if binds_right else -1)  # fmt: skip


def _join(items: list[Item]) -> list[Item]:
    def one_pass(items: list[Item], along_keys: bool) -> list[Item]:
        result: list[Item] = []
        for item in items:
            for i, a in enumerate(result):
                if not (a.is_full and item.is_full):
                    continue
                if along_keys and a[:2] == item[:2] and a.key + a.keys == item.key:
                    result[i] = a._replace(keys=a.keys + item.keys)
                    break
                if not along_keys and a[2:4] == item[2:4] and a.query + a.queries == item.query:
                    result[i] = a._replace(queries=a.queries + item.queries)
                    break
            else:
                result.append(item)
        return result

    return one_pass(one_pass(items, True), False)


def ring_items(own: Sequence[Rows], other: Sequence[Rows], left: int, right: int) -> list[Item]:
    """The items of queries with rows `own` and keys with rows `other`. If both are equal, the first items that name a row have
    its own key, and cover all rows."""
    same = list(own) == list(other)
    if same and left < 0 and right <= 0:
        rows = count_of(own)
        return [Item(0, rows, 0, rows, left, right)] if rows else []
    own_keys: list[Item] = []
    items: list[Item] = []
    query = 0
    for a, q in enumerate(own):
        key = 0
        for b, k in enumerate(other):
            item = _item(q, k, left, right)
            if item is not None:
                item = item._replace(query=item.query + query, key=item.key + key)
                (own_keys if same and a == b else items).append(item)
            key += k.length
        query += q.length
    return own_keys + _join(items)


def _by_sequence(rows: Sequence[Rows], lengths: Sequence[int]) -> list[tuple[list[Rows], int]]:
    """The rows in each sequence, and where they begin in memory."""
    result: list[tuple[list[Rows], int]] = []
    piece, used, memory, begin = 0, 0, 0, 0  # used: rows of the piece in sequences before
    for length in lengths:
        own: list[Rows] = []
        first, end = memory, begin + length
        while piece < len(rows) and rows[piece].begin + used < end:
            r = rows[piece]
            count = min(r.begin + r.length, end) - (r.begin + used)
            if count > 0:
                own.append(Rows(r.begin + used, count))
            memory, used = memory + count, used + count
            if used < r.length:
                break
            piece, used = piece + 1, 0
        result.append((own, first))
        begin = end
    return result


def _with_zero_bound(i: Item) -> list[Item]:
    """Divides an item with one bound into one whose bound is 0, and one without a bound."""
    if i.left > 0:
        bounded = i.keys - i.left
        return [i._replace(keys=bounded, left=0), i._replace(key=i.key + bounded, keys=i.left, left=-1)]
    if i.right > 0:
        bounded = i.queries - i.right
        return [i._replace(queries=bounded, right=0), i._replace(query=i.query + bounded, queries=i.right, right=-1)]
    return [i]


def _pack(packed: list[Item], i: Item) -> None:
    """Puts the rows of an item into the first packed item whose parts are all before it, or into a new one."""
    part = Part(i.query, i.queries, i.key, i.keys)
    for n, to in enumerate(packed):
        if (to.left, to.right) == (i.left, i.right) and to.query + to.queries <= i.query and to.key + to.keys <= i.key:
            packed[n] = to._replace(queries=i.query + i.queries - to.query, keys=i.key + i.keys - to.key,
                                    parts=(*to.parts, part))  # fmt: skip
            return
    packed.append(i._replace(parts=(part,)))


@functools.lru_cache(maxsize=64)  # layers of a model attend to equal lengths
def packed_items(own: tuple[Rows, ...], other: tuple[Rows, ...], left: int, right: int, lengths: tuple[int, ...]) -> list[Item]:
    """ring_items within packed sequences: an item has parts of all of them. All rows are in increasing order. If own and other are
    equal, the first item has all rows."""
    same = own == other
    own_keys: list[Item] = []
    items: list[Item] = []
    for (queries, query), (keys, key) in zip(_by_sequence(own, lengths), _by_sequence(other, lengths)):
        rest = count_of(queries) if same else 0
        for item in ring_items(queries, keys, left, right) if queries and keys else []:
            item = item._replace(query=item.query + query, key=item.key + key)
            if rest > 0:
                rest -= item.queries
                _pack(own_keys, item._replace(left=left, right=right))
                continue
            for part in _with_zero_bound(item):
                _pack(items, part)
    return own_keys + items


def packed_begins(item: Item) -> tuple[list[int], list[int], int, int]:
    """(cu_q, cu_k, most queries, most keys) of a packed item. Rows between parts are sequences of their own, without keys or
    without queries, so that all rows of the item are written."""
    query, key, most_queries, most_keys = item.query, item.key, 0, 0
    cu_q, cu_k = [0], [0]
    for part in item.parts:
        for queries, keys in ((part.query - query, 0), (0, part.key - key), (part.queries, part.keys)):
            if queries or keys:
                query, key = query + queries, key + keys
                cu_q.append(query - item.query)
                cu_k.append(key - item.key)
                most_queries, most_keys = max(most_queries, queries), max(most_keys, keys)
    return cu_q, cu_k, most_queries, most_keys


MOST_RUNS = 16  # more transfers cost more time than rows that nobody needs


def _needed_parts(items: Sequence[Item]) -> list[Rows]:
    needed: list[Rows] = []
    for begin, length in sorted((part.key, part.keys) for i in items for part in i.parts):
        if needed and begin <= needed[-1].begin + needed[-1].length:
            last = needed[-1]
            needed[-1] = Rows(last.begin, max(last.begin + last.length, begin + length) - last.begin)
        else:
            needed.append(Rows(begin, length))
    if len(needed) <= MOST_RUNS:
        return needed
    return [Rows(needed[0].begin, needed[-1].begin + needed[-1].length - needed[0].begin)]


def needed_keys(items: Sequence[Item], other: Sequence[Rows]) -> list[Rows]:
    """The keys that the items need, as rows in the memory of their rank."""
    if any(i.parts for i in items):
        return _needed_parts(items)
    needed, first = [], 0
    for piece in other:
        begin, end = first + piece.length, first
        for i in items:
            begin = min(begin, max(i.key, first))
            end = max(end, min(i.key + i.keys, first + piece.length))
        if begin < end:
            needed.append(Rows(begin, end - begin))
        first += piece.length
    return joined(needed)
