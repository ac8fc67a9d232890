"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const tip = by("tip"), hidden = by("hidden"), search = by("search");
  // The fields of an entry of data.cases and data.pairs, as page.py writes them.
  const [OPERATION, TYPE, PROTOCOL, TEXT, DEVICE, TIMES, TFLOPS, TBS, INTENSITY, SHARE, RATIO] = Array(11).keys();
  const [OLD, OLD_AT, NEW, NEW_AT] = [4, 5, 6, 7];
  const text = (place) => data.texts[place];
  const step = 100;  // rows of the table of all cases that appear at once
  const state = { chosen: new Set(), protocol: data.protocols.indexOf("repeated"), column: 0, down: false, shown: step };

  const number = (x) => {
    if (x === null || x === undefined) return "";
    if (x === 0) return "0";
    const digits = Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x)))));
    return x.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };
  const percent = (x) => (x === null ? "" : (100 * x).toFixed(0) + " %");
  const element = (name, content, style) => {
    const made = document.createElement(name);
    if (content !== undefined) made.textContent = content;
    if (style) made.className = style;
    return made;
  };

  // ---- Filters: a rule of style hides what is not chosen, everywhere.

  const isShown = (entry) => (state.chosen.size === 0 || state.chosen.has(entry[OPERATION])) &&
      (state.protocol < 0 || entry[PROTOCOL] === state.protocol);

  const applyFilter = () => {
    const rules = [];
    data.operations.forEach((_, i) => {
      if (state.chosen.size > 0 && !state.chosen.has(i)) rules.push(`main .o${i}`);
    });
    data.protocols.forEach((_, i) => {
      if (state.protocol >= 0 && i !== state.protocol) rules.push(`main .p${i}`);
    });
    hidden.textContent = rules.length ? rules.join(",") + "{display:none!important}" : "";
    for (const chip of document.querySelectorAll(".chip")) {
      const one = Number(chip.dataset.o);
      chip.setAttribute("aria-pressed", one < 0 ? state.chosen.size === 0 : state.chosen.size === 0 || state.chosen.has(one));
    }
    for (const way of document.querySelectorAll(".ways button")) {
      way.setAttribute("aria-pressed", Number(way.dataset.p) === state.protocol);
    }
    state.shown = step;
    showCases();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("nav button");
    if (!button) return;
    if (button.dataset.p !== undefined) {
      state.protocol = Number(button.dataset.p);
    } else {
      const one = Number(button.dataset.o);
      if (one < 0) state.chosen.clear();
      else if (!state.chosen.delete(one)) state.chosen.add(one);
    }
    applyFilter();
  });

  // ---- The table of all cases

  const peerOf = (entry) => {
    const ours = entry[TIMES].find((time) => text(time[0]) === "kaio");
    const time = entry[RATIO] === null ? null : entry[TIMES].filter((one) => one !== ours)
        .reduce((best, one) => Math.abs(one[1] / ours[1] - entry[RATIO]) < Math.abs(best[1] / ours[1] - entry[RATIO]) ? one : best);
    return { ours, peer: time };
  };
  const columns = [
    ["operation", (e) => e[OPERATION], (e) => data.operations[e[OPERATION]]],
    ["type", (e) => text(e[TYPE])],
    ["case", (e) => text(e[TEXT])],
    ["protocol", (e) => data.protocols[e[PROTOCOL]]],
    ["#kaio, µs", (e) => peerOf(e).ours[1], (e) => number(peerOf(e).ours[1])],
    ["#TFLOP/s", (e) => e[TFLOPS], (e) => number(e[TFLOPS])],
    ["#TB/s", (e) => e[TBS], (e) => number(e[TBS])],
    ["#of the roof", (e) => e[SHARE], (e) => percent(e[SHARE])],
    ["#ratio", (e) => e[RATIO], (e) => (e[RATIO] === null ? "" : e[RATIO].toFixed(2))],
    ["fastest peer", (e) => (peerOf(e).peer ? text(peerOf(e).peer[0]) : "")],
    ["#peer, µs", (e) => (peerOf(e).peer ? peerOf(e).peer[1] : null), (e) => (peerOf(e).peer ? number(peerOf(e).peer[1]) : "")],
    ["measured", (e) => text(peerOf(e).ours[2])],
    ["device", (e) => text(e[DEVICE])],
  ];

  const compare = (a, b) => {
    const missing = (x) => x === null || x === "";
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const order = typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return state.down ? -order : order;
  };

  const showCases = () => {
    const table = by("cases");
    if (!table) return;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (e) => {
      const whole = [data.operations[e[OPERATION]], text(e[TYPE]), text(e[TEXT]), text(peerOf(e).ours[2])].join(" ").toLowerCase();
      return words.every((word) => whole.includes(word));
    };
    const found = data.cases.filter((e) => isShown(e) && matches(e));
    const value = columns[state.column][1];
    const sorted = found.map((e) => [value(e), e]).sort((a, b) => compare(a[0], b[0])).map((one) => one[1]);
    const body = table.tBodies[0];
    body.replaceChildren(...sorted.slice(0, state.shown).map((e) => {
      const row = element("tr", undefined, `o${e[OPERATION]}`);
      for (const [name, plain, written] of columns) {
        const cell = element("td", (written || plain)(e), name.startsWith("#") ? "number" : "");
        if (name === "operation") cell.prepend(element("i", "", "dot"));
        row.append(cell);
      }
      return row;
    }));
    by("count").textContent = `${found.length.toLocaleString("en")} of ${data.cases.length.toLocaleString("en")} cases`;
    by("more").hidden = found.length <= state.shown;
    [...table.tHead.rows[0].cells].forEach((head, i) => mark(head, i === state.column, state.down));
  };

  const mark = (head, isSorted, down) => {
    if (isSorted) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  };

  if (by("cases")) {
    const heads = element("tr");
    columns.forEach(([name], i) => {
      const head = element("th", undefined, name.startsWith("#") ? "number" : "");
      const button = element("button", name.replace("#", ""));
      button.type = "button";
      button.addEventListener("click", () => {
        state.down = state.column === i ? !state.down : name.startsWith("#") && name !== "#ratio";
        state.column = i;
        showCases();
      });
      head.append(button);
      heads.append(head);
    });
    by("cases").tHead.append(heads);
    search.addEventListener("input", () => {
      state.shown = step;
      showCases();
    });
    by("more").addEventListener("click", () => {
      state.shown += 5 * step;
      showCases();
    });
  }

  // ---- The other tables are sorted where they are.

  for (const table of document.querySelectorAll("table.sorted")) {
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if (!head.querySelector("button")) return;
      head.querySelector("button").addEventListener("click", () => {
        const isNumber = head.classList.contains("number");
        const down = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : isNumber;
        const value = (row) => {
          const cell = row.cells[i];
          return cell.dataset.v !== undefined ? Number(cell.dataset.v) : isNumber && cell.textContent !== "" ?
            Number(cell.textContent.replace(/,/g, "")) : isNumber ? null : cell.textContent;
        };
        const before = state.down;
        state.down = down;
        const rows = [...table.tBodies[0].rows].sort((a, b) => compare(value(a), value(b)));
        state.down = before;
        table.tBodies[0].append(...rows);
        for (const other of table.tHead.rows[0].cells) mark(other, other === head, down);
      });
    });
  }

  // ---- What a dot means

  const describeCase = (e) => {
    const { ours } = peerOf(e);
    const parts = [element("b", data.operations[e[OPERATION]]), element("span", `${text(e[TYPE])}, ${data.protocols[e[PROTOCOL]]}`),
                   element("div", text(e[TEXT]))];
    const rates = [e[TFLOPS] && `${number(e[TFLOPS])} TFLOP/s`, e[TBS] && `${number(e[TBS])} TB/s`,
                   e[INTENSITY] && `${number(e[INTENSITY])} FLOP/B`, e[SHARE] && `${percent(e[SHARE])} of the roof`];
    parts.push(element("span", rates.filter(Boolean).join(" · ")));
    const table = element("table");
    for (const [name, us, at] of e[TIMES]) {
      const row = element("tr");
      row.append(element("td", text(name)), element("td", `${number(us)} µs`, "number"),
                 element("td", us === ours[1] ? "" : `${(us / ours[1]).toFixed(2)} ×`), element("td", text(at)));
      table.append(row);
    }
    return [...parts, table, element("span", text(e[DEVICE]))];
  };
  const describePair = (p) => [
    element("b", data.operations[p[OPERATION]]), element("span", `${text(p[TYPE])}, ${data.protocols[p[PROTOCOL]]}`),
    element("div", text(p[TEXT])), element("div", `old ${number(p[OLD])} µs, ${text(p[OLD_AT])}`),
    element("div", `new ${number(p[NEW])} µs, ${text(p[NEW_AT])}`),
    element("b", p[OLD] >= p[NEW] ? `${(p[OLD] / p[NEW]).toFixed(2)} × faster` : `${(p[NEW] / p[OLD]).toFixed(2)} × slower`)];

  const alike = new Map();  // the dots of a case are marked in all plots
  for (const dot of document.querySelectorAll("circle[data-i]")) {
    if (!alike.has(dot.dataset.i)) alike.set(dot.dataset.i, []);
    alike.get(dot.dataset.i).push(dot);
  }
  let marked = [];
  const hideTip = () => {
    tip.hidden = true;
    for (const dot of marked) dot.classList.remove("on");
    marked = [];
  };
  const showTip = (event) => {
    const dot = event.target.closest && event.target.closest("circle[data-i], circle[data-c]");
    hideTip();
    if (!dot) return;
    const { i, c } = dot.dataset;
    tip.replaceChildren(...(i !== undefined ? describeCase(data.cases[i]) : describePair(data.pairs[c])));
    tip.hidden = false;
    marked = i !== undefined ? alike.get(i) : [dot];
    for (const one of marked) one.classList.add("on");
    const left = event.clientX + 14, top = event.clientY + 14;
    tip.style.left = Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.max(8, top + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 14 : top) + "px";
  };
  document.addEventListener("pointerover", showTip);
  document.addEventListener("click", showTip);
  addEventListener("scroll", hideTip, { passive: true });

  applyFilter();
  document.body.dataset.ready = String(data.cases.length);
  document.body.dataset.rows = String(by("cases") ? by("cases").tBodies[0].rows.length : 0);
})();
