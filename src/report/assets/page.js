"use strict";
(() => {
  const darkMode = matchMedia("(prefers-color-scheme: dark)");
  const number = (value) => Number(value.toPrecision(6)).toLocaleString("en", { maximumSignificantDigits: 6 });

  // ---- Charts ------------------------------------------------------------------------------------------------------
  const dashes = [[], [6, 3], [2, 3]]; // once all colours are used up

  function style(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  /** Colours go round among the series that are not references. */
  function colouring(all, i, colours) {
    const before = all.slice(0, i).filter(({ reference }) => reference === all[i].reference).length;
    if (all[i].reference) return { colour: style("--muted"), dash: [[5, 4], [2, 3], [9, 3, 2, 3]][before % 3] };
    return { colour: colours[before % colours.length], dash: dashes[Math.floor(before / colours.length) % dashes.length] };
  }

  function dataset(series, i, spec, colours) {
    const { colour, dash } = colouring(spec.series, i, colours);
    return {
      label: series.name,
      data: series.y.map((y, k) => ({ x: series.x[k], y })),
      borderColor: colour,
      backgroundColor: spec.kind === "bar" ? colour : colour + "22",
      borderWidth: spec.kind === "bar" ? 0 : 1.8,
      borderDash: dash,
      error: series.error,
      pointRadius: series.y.length <= 40 && !series.reference ? 2.5 : 0, // a lone point would be invisible as a line
      pointBackgroundColor: colour,
      pointBorderWidth: 0,
      pointHoverRadius: 4,
      clip: { left: 6, top: 6, right: 6, bottom: spec.yFrom === null ? 6 : 0 }, // whole dots at the ends
      maxBarThickness: 28,
      categoryPercentage: 0.9,
      barPercentage: 0.9,
    };
  }

  /** Powers of ten, where there are hardly any also 2 and 5 times those; `scale` begins at a tick of its own. */
  function labelled(scale) {
    const wanted = scale.max < 100 * scale.min ? [1, 2, 5] : [1];
    scale.ticks = scale.ticks.filter(({ value }) => {
      const digit = value / 10 ** Math.floor(Math.log10(value) + 1e-6);
      return wanted.some((one) => Math.abs(digit - one) < 1e-6);
    });
  }

  function axis(label, log, extra) {
    const muted = style("--muted");
    const ticks = { color: muted, maxRotation: 0, autoSkipPadding: 14, ...extra.ticks };
    if (log) ticks.callback = (value) => number(value);
    return {
      ...extra,
      type: log ? "logarithmic" : "linear",
      title: { display: label !== "", text: label, color: muted },
      grid: { color: style("--grid"), borderColor: style("--line"), tickLength: 4, ...extra.grid },
      ticks,
      ...(log && { afterBuildTicks: labelled }),
    };
  }

  /** Chart.js would leave out of the x axis what lies below the start of the y axis, and round its ends for bars. */
  function extent(series, bars) {
    let [min, max] = [Infinity, -Infinity];
    for (const { x, y } of series) {
      x.forEach((value, k) => {
        if (value === null || y[k] === null) return;
        min = Math.min(min, value);
        max = Math.max(max, value);
      });
    }
    const most = Math.max(...series.map(({ x }) => x.length));
    const room = bars ? 0.6 * (min < max ? (max - min) / (most - 1) : 1) : 0; // half a bar and a bit
    return min - room < max + room ? { min: min - room, max: max + room } : {};
  }

  /** The y axis has room for the error bars; on a logarithmic one those that reach below 0 end at the edge. */
  function errorExtent(spec) {
    const ends = spec.series.flatMap(({ y, error }) => error.flatMap((e, k) => (y[k] === null ? [] : [y[k] - e, y[k] + e])));
    const shown = ends.filter((end) => Number.isFinite(end) && (!spec.logY || end > 0));
    return shown.length ? { suggestedMin: Math.min(...shown), suggestedMax: Math.max(...shown) } : {};
  }

  const errorBars = {
    id: "errorBars",
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      const height = (value) => {
        const pixel = chart.scales.y.getPixelForValue(value);
        return Number.isFinite(pixel) ? Math.min(Math.max(pixel, chartArea.top), chartArea.bottom) : chartArea.bottom;
      };
      ctx.save();
      ctx.lineWidth = 1.2;
      chart.data.datasets.forEach(({ data, error, borderColor }, i) => {
        if (!chart.isDatasetVisible(i)) return;
        ctx.strokeStyle = borderColor;
        ctx.beginPath();
        error.forEach((e, k) => {
          if (!e || data[k].x === null || data[k].y === null) return;
          const [x, top, bottom] = [chart.getDatasetMeta(i).data[k].x, height(data[k].y + e), height(data[k].y - e)];
          for (const [x0, y0, x1, y1] of [[x, top, x, bottom], [x - 3, top, x + 3, top], [x - 3, bottom, x + 3, bottom]]) {
            ctx.moveTo(x0, y0);
            ctx.lineTo(x1, y1);
          }
        });
        ctx.stroke();
      });
      ctx.restore();
    },
  };

  /** Whether the k-th points of all series stand above each other; long ones are thinned each in its own way. */
  function sameX(series) {
    return series.every(({ x }) => x.length === series[0].x.length && x.every((value, k) => value === series[0].x[k]));
  }

  function draw(figure) {
    const canvas = figure.querySelector("canvas");
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const colours = style("--series").split(" ");
    const bars = spec.kind === "bar";
    const whole = figure.querySelector(".range")?.getAttribute("aria-pressed") === "true";
    Chart.getChart(canvas)?.destroy();
    new Chart(canvas, {
      type: spec.kind,
      data: { datasets: spec.series.map((series, i) => dataset(series, i, spec, colours)) },
      plugins: [errorBars],
      options: {
        animation: false,
        parsing: false,
        normalized: true,
        maintainAspectRatio: false,
        interaction: { mode: sameX(spec.series) ? "index" : "nearest", axis: "x", intersect: false },
        scales: {
          x: axis(spec.xLabel, spec.logX, {
            ...extent(spec.series, bars && !spec.logX), offset: false, grid: { display: !bars, offset: false },
            ticks: { includeBounds: false, ...(spec.wholeX && { precision: 0 }) },
          }),
          y: axis(spec.yLabel, spec.logY, {
            min: spec.yFrom === null || whole ? undefined : spec.yFrom, beginAtZero: bars && !spec.logY,
            ...errorExtent(spec), ticks: { includeBounds: false, ...(spec.wholeY && { precision: 0 }) },
          }),
        },
        plugins: {
          legend: { display: spec.series.length > 1, align: "start", labels: { color: style("--text"), boxWidth: 14, boxHeight: 2 } },
          tooltip: {
            callbacks: {
              title: (items) => (items.length ? `${spec.xLabel || "x"} ${number(items[0].parsed.x)}` : ""),
              label: ({ dataset: { label, error }, parsed, dataIndex }) => {
                const e = error[dataIndex];
                return ` ${label ? label + ": " : ""}${number(parsed.y)}${e ? ` ± ${e.toPrecision(2)}` : ""}`;
              },
            },
          },
        },
      },
    });
  }

  const charts = document.querySelectorAll(".chart");
  if (charts.length) {
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    const drawAll = () => charts.forEach(draw);
    drawAll();
    darkMode.addEventListener("change", drawAll);
  }
  for (const button of document.querySelectorAll(".range")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
      draw(button.closest(".chart"));
    });
  }

  // ---- Two pictures and a handle -----------------------------------------------------------------------------------
  for (const slider of document.querySelectorAll(".slider")) {
    const stage = slider.querySelector(".stage");
    const input = slider.querySelector("input");
    const show = () => slider.style.setProperty("--cut", `${input.value}%`);
    const follow = (event) => {
      const box = stage.getBoundingClientRect();
      input.value = (100 * (event.clientX - box.left)) / box.width;
      show();
    };
    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => { // the range's own step is fine enough for dragging, too fine for keys
      const step = { ArrowLeft: -2, ArrowDown: -2, ArrowRight: 2, ArrowUp: 2 }[event.key];
      if (!step) return;
      event.preventDefault();
      input.value = Number(input.value) + step;
      show();
    });
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      follow(event);
    });
    stage.addEventListener("pointermove", (event) => {
      if (stage.hasPointerCapture(event.pointerId)) follow(event);
    });
    show(); // browsers restore the value of the range when a page is loaded again
  }

  // ---- One picture, large ------------------------------------------------------------------------------------------
  const zoom = document.getElementById("zoom");

  function enlarge(element, caption) {
    zoom.querySelector(".stage").replaceChildren(element);
    zoom.querySelector(".caption").textContent = caption;
    zoom.showModal();
  }

  /** As many screen pixels a pixel as fit, a whole number unless the picture is larger than the screen. */
  function wholeScale(width, height) {
    return Math.max(1, Math.floor(Math.min((innerWidth * 0.96 - 40) / width, (innerHeight * 0.96 - 130) / height)));
  }

  zoom.addEventListener("click", (event) => {
    if (!event.target.closest(".stage > *, .caption")) zoom.close();
  });
  for (const button of document.querySelectorAll(".enlarge")) {
    button.addEventListener("click", () => {
      const image = button.querySelector("img").cloneNode();
      image.style.width = `${image.width * wholeScale(image.width, image.height)}px`;
      const lines = [...button.parentElement.querySelectorAll("figcaption > *")];
      enlarge(image, lines.map((line) => line.textContent).join(" · "));
    });
  }

  // ---- Basis functions ---------------------------------------------------------------------------------------------
  for (const basis of document.querySelectorAll(".basis")) {
    const cells = basis.querySelector(".cells");
    const output = basis.querySelector("output");
    const caption = (cell) => `Latent ${cell.dataset.h} · pi ${cell.dataset.pi}`;
    let current = null;

    function select(cell) {
      current?.classList.remove("current");
      current = cell;
      current.classList.add("current");
      output.textContent = caption(cell);
    }

    function open(cell) {
      const picture = cell.firstElementChild.cloneNode(true);
      if (picture.tagName !== "I") return enlarge(picture, caption(cell));
      const shape = getComputedStyle(cells);
      const [rows, cols] = ["--rows", "--cols"].map((name) => Number(shape.getPropertyValue(name)));
      const frame = document.createElement("div");
      frame.className = cells.className;
      frame.style.cssText = cells.style.cssText;
      frame.style.setProperty("--zoom", Math.min(wholeScale(cols, rows), Math.ceil(480 / Math.max(rows, cols))));
      frame.append(picture);
      enlarge(frame, caption(cell));
    }

    cells.addEventListener("mouseover", (event) => {
      const cell = event.target.closest("b");
      if (cell) output.textContent = caption(cell);
    });
    cells.addEventListener("click", (event) => {
      const cell = event.target.closest("b");
      if (!cell) return;
      select(cell);
      open(cell);
    });
    cells.addEventListener("keydown", (event) => {
      const all = [...cells.children];
      const across = all.findIndex((cell) => cell.offsetTop > all[0].offsetTop);
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        const place = current ? all.indexOf(current) + step : 0;
        select(all[Math.min(all.length - 1, Math.max(0, place))]);
        current.scrollIntoView({ block: "nearest" });
      } else if (event.key === "Enter" && current) {
        open(current);
      }
    });
  }
})();
