"""Which rows of a sequence a rank has, and which of them attend to which in a step of a ring. The C++ library has the same plan
(src/ops/distributed/attention/plan.cpp)."""

from __future__ import annotations

from typing import NamedTuple, Sequence

LAYOUTS = ("contiguous", "zigzag")


class Rows(NamedTuple):
    """Neighbouring rows."""

    begin: int
    length: int


class Item(NamedTuple):
    """A call of attention: rows in the memory of their ranks, and a window around attention's own key; -1: open."""

    query: int
    queries: int
    key: int
    keys: int
    left: int = -1
    right: int = -1

    @property
    def is_full(self) -> bool:
        return self.left < 0 and self.right < 0


def context_rows(layout: str, rows: int, ranks: int, rank: int) -> list[Rows]:
    """The rows of a rank, in the order in which it has them.

    layout: "contiguous": the rank-th of `ranks` pieces; "zigzag": of 2 * ranks pieces, piece `rank`, and 2 * ranks - 1 - rank
    rows: of the sequence; piece i of n begins at i * rows // n
    Raises ValueError.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"kaio: context_rows: argument layout is {layout!r}; it is 'contiguous' or 'zigzag'")
    if rows < 0 or ranks < 1 or not 0 <= rank < ranks:
        raise ValueError(f"kaio: context_rows: {rows} rows and rank {rank} of {ranks} ranks")
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


def needed_keys(items: Sequence[Item], other: Sequence[Rows]) -> list[Rows]:
    """The keys that the items need, as rows in the memory of their rank."""
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
