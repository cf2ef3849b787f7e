"use strict";
(() => {
  const status = document.getElementById("status");

  // Tables: a click or a key on a heading sorts by it, and turns the order round the second time. Empty cells stay last.
  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    return text === "–" || text === "" ? null : text;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  };
  const sort = (table, column, descending) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [value(row, column), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, place) => {
      head.setAttribute("aria-sort", place !== column ? "none" : descending ? "descending" : "ascending");
    });
    const name = heads[column].textContent.trim();
    status.textContent = `${table.caption.textContent}: sorted by ${name}, ${descending ? "descending" : "ascending"}`;
  };
  for (const table of document.querySelectorAll("table")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      head.firstElementChild.addEventListener("click", () => {
        sort(table, column, head.getAttribute("aria-sort") === "ascending");
      });
    });
  }

  // `#sort=runs,3,descending` opens the page with a table sorted: its id, and a column from 0.
  const wanted = /^#sort=([\w-]+),(\d+)(,descending)?$/.exec(location.hash);
  const table = wanted && document.getElementById(wanted[1]);
  if (table && table.tHead && Number(wanted[2]) < table.tHead.rows[0].cells.length) {
    sort(table, Number(wanted[2]), Boolean(wanted[3]));
    const details = table.closest("details");
    if (details) details.open = true;
    table.scrollIntoView();
  }

  // Charts: one stop of the tab key each, arrows from mark to mark; a tooltip follows pointer and keyboard.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const show = (mark) => {
    const box = mark.getBoundingClientRect();
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${Math.max(4, Math.min(left, most)) + scrollX}px`;
    const above = box.top - tip.offsetHeight - 8;
    tip.style.top = `${(above < 0 ? box.bottom + 8 : above) + scrollY}px`;
  };
  const hide = () => { tip.hidden = true; };
  const keys = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const chart of document.querySelectorAll("svg.chart")) {
    const marks = Array.from(chart.querySelectorAll(".mark"));
    chart.querySelector(":scope > title").remove();
    marks.forEach((mark, place) => {
      const title = mark.querySelector("title");
      mark.setAttribute("aria-label", title.textContent);
      mark.setAttribute("tabindex", place === 0 ? "0" : "-1");
      title.remove();
      mark.addEventListener("pointerenter", () => show(mark));
      mark.addEventListener("pointerleave", hide);
      mark.addEventListener("focus", () => show(mark));
      mark.addEventListener("blur", hide);
      mark.addEventListener("keydown", (event) => {
        if (event.key === "Escape") hide();
        const next = event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1
          : event.key in keys ? place + keys[event.key] : -1;
        if (!marks[next]) return;
        event.preventDefault();
        mark.setAttribute("tabindex", "-1");
        marks[next].setAttribute("tabindex", "0");
        marks[next].focus();
      });
    });
  }

  // The selector of the charts beyond the first ones.
  for (const select of document.querySelectorAll(".more select")) {
    const figures = select.closest(".more").querySelectorAll("figure");
    const show = () => figures.forEach((figure, place) => { figure.hidden = place !== Number(select.value); });
    select.addEventListener("change", show);
    show();
  }

  // On paper nothing can be opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
})();
