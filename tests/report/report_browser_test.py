"""Reports in a real browser: report_browser_test.py SAMPLE_PROGRAM GSC makes pages with both programs,
report_browser_test.py PAGE.html... takes pages there are.

With --screenshots FOLDER it also leaves pictures of the pages there. Exit code 77: no browser here.
"""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("selenium is not installed: skipped")
    sys.exit(77)

driver_program = shutil.which("chromedriver")
browser_program = shutil.which("chromium")
if not driver_program or not browser_program:
    print("chromium and chromium-driver are not installed: skipped")
    sys.exit(77)


def start(folder):
    options = Options()
    options.binary_location = browser_program
    # A profile of our own: without it two tests at the same time, or a user's open browser, get into each other's way.
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={folder}/profile"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(driver_program), options=options)


def view(browser, width, height, dark=False):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    time.sleep(0.5)  # charts follow the size of the window a frame later


def drawn(browser):
    """Of every chart: how many pixels inside its axes have a colour of their own, as lines and bars do."""
    return browser.execute_script("""
      return [...document.querySelectorAll('.chart canvas')].map((canvas) => {
        const area = Chart.getChart(canvas).chartArea, ratio = canvas.width / canvas.clientWidth;
        const pixels = canvas.getContext('2d').getImageData(area.left * ratio, area.top * ratio,
          (area.right - area.left) * ratio, (area.bottom - area.top) * ratio).data;
        let any = 0, coloured = 0;
        for (let i = 0; i < pixels.length; i += 4) {
          if (pixels[i + 3] === 0) continue;
          ++any;
          if (Math.max(...pixels.slice(i, i + 3)) - Math.min(...pixels.slice(i, i + 3)) > 40) ++coloured;
        }
        return {title: canvas.closest('figure').querySelector('h3').textContent, any, coloured};
      });""")


def check_charts(browser):
    charts = drawn(browser)
    assert charts, "there is no chart"
    for chart in charts:
        assert chart["any"] > 100 and chart["coloured"] > 5, f"nothing drawn: {chart}"


def check_bars(browser):
    """Bars fill their axis."""
    ends = browser.execute_script("""
      return [...document.querySelectorAll('.chart canvas')].map((canvas) => Chart.getChart(canvas))
        .filter((chart) => chart.config.type === 'bar').map((chart) => {
          const { min, max } = chart.scales.x, x = chart.data.datasets[0].data.map((point) => point.x);
          return [x[0] - min, max - x[x.length - 1]];
        });""")
    assert ends or browser.title.startswith("Methods compared"), "there are no bars"
    assert all(0 < end < 1 for pair in ends for end in pair), f"room beside the bars: {ends}"


def check_error_bars(browser):
    """The axis holds them, and they are drawn: without them fewer pixels are coloured."""
    beyond = browser.execute_script("""
      return [...document.querySelectorAll('.chart canvas')].map((canvas) => Chart.getChart(canvas))
        .flatMap((chart) => chart.data.datasets.flatMap(({ data, error }) =>
          error.map((e, k) => data[k].y + e - chart.scales.y.max)));""")
    assert all(end <= 0 for end in beyond), f"error bars end outside of their axis: {beyond}"
    if not beyond:
        return
    before = drawn(browser)
    browser.execute_script("""
      for (const canvas of document.querySelectorAll('.chart canvas')) {
        const chart = Chart.getChart(canvas);
        chart.data.datasets.forEach((dataset) => { dataset.error = []; });
        chart.update();
      }""")
    after = drawn(browser)
    browser.refresh()
    assert any(a["coloured"] < b["coloured"] for a, b in zip(after, before)), "there are no error bars"


def check_range_buttons(browser):
    for button in browser.find_elements(By.CSS_SELECTOR, ".range"):
        lowest = "return Chart.getChart(arguments[0].closest('.chart').querySelector('canvas')).scales.y.min"
        before = browser.execute_script(lowest, button)
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(lowest, button) < before, "the whole range starts no lower"
        browser.execute_script("arguments[0].click()", button)
        assert browser.execute_script(lowest, button) == before, "the detail does not come back"


def check_sliders(browser):
    for slider in browser.find_elements(By.CSS_SELECTOR, ".slider"):
        handle = slider.find_element(By.CSS_SELECTOR, "input")
        stage = slider.find_element(By.CSS_SELECTOR, ".stage")

        def clip():
            return browser.execute_script(
                "return getComputedStyle(arguments[0].querySelector('.above')).clipPath", slider)

        middle = clip()
        browser.execute_script("arguments[0].value = 20; arguments[0].dispatchEvent(new Event('input'))", handle)
        left = clip()
        assert left != middle, f"the slider does not move: {left}"
        browser.execute_script("arguments[0].focus()", handle)
        handle.send_keys(Keys.ARROW_RIGHT)
        assert clip() != left, "the arrow key does not move the slider"
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", stage)
        actions = webdriver.ActionChains(browser)
        actions.move_to_element(stage).click_and_hold().move_by_offset(stage.size["width"] // 4, 0).release().perform()
        value = float(handle.get_property("value"))
        assert abs(value - 75) < 1, f"dragged to three quarters, the slider stands at {value}"
        browser.execute_script("arguments[0].value = 50; arguments[0].dispatchEvent(new Event('input'))", handle)


def check_enlarging(browser):
    """A click on a picture or a basis function opens the dialog, Escape closes it."""
    is_open = "return document.getElementById('zoom').open"
    for place in (".enlarge", ".tiles .cells b", ".traces .cells b"):
        for element in browser.find_elements(By.CSS_SELECTOR, place)[:1]:
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
            assert browser.execute_script(is_open), f"{place} does not enlarge"
            box = browser.execute_script(
                "const b = document.querySelector('#zoom .stage').lastElementChild.getBoundingClientRect();"
                "return [b.width, b.height]")
            assert min(box) > 100, f"{place} is enlarged to {box} only"
            webdriver.ActionChains(browser).send_keys(Keys.ESCAPE).perform()
            assert not browser.execute_script(is_open), "Escape does not close the dialog"
    for cells in browser.find_elements(By.CSS_SELECTOR, ".cells")[:1]:
        browser.execute_script("arguments[0].focus()", cells)
        cells.send_keys(Keys.ARROW_RIGHT)
        assert len(cells.find_elements(By.CSS_SELECTOR, ".current")) == 1, "arrow keys do not select a basis function"
        browser.execute_script("arguments[0].blur()", cells)


def check_silence(browser):
    # Reading the canvases back is our doing, not the page's.
    log = [entry for entry in browser.get_log("browser") if "willReadFrequently" not in entry["message"]]
    assert not log, f"the console says {log}"
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert not [name for name in loaded if not name.startswith("data:")], f"resources: {loaded}"
    requests = [entry["message"] for entry in browser.get_log("performance")
                if '"Network.requestWillBeSent"' in entry["message"] and '"url":"http' in entry["message"]]
    assert not requests, f"network requests: {requests}"


def check_pictures(browser):
    broken = browser.execute_script("""
      document.querySelectorAll('img').forEach((image) => { image.loading = 'eager'; });
      return [...document.images].filter((image) => !image.alt || (image.complete && !image.naturalWidth)).length""")
    assert broken == 0, f"{broken} pictures are broken or have no alternative text"


def check_phone(browser):
    view(browser, 390, 800)
    # scrollWidth alone would follow a viewport that a too wide page has stretched
    widths = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert max(widths) <= 390, f"a phone of 390 pixels scrolls sideways: {widths}"


def check_dark(browser):
    background = "return getComputedStyle(document.body).backgroundColor"
    view(browser, 1280, 900)
    light = browser.execute_script(background)
    view(browser, 1280, 900, dark=True)
    assert browser.execute_script(background) != light, "dark mode looks like light mode"
    check_charts(browser)


def screenshots(browser, folder, page):
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, dark in (("desktop", 1280, False), ("dark", 1280, True), ("phone", 390, False),
                              ("phone-dark", 390, True)):
        view(browser, width, 900, dark)
        height = browser.execute_script("return document.documentElement.scrollHeight")
        view(browser, width, height, dark)
        browser.save_screenshot(str(folder / f"{page}-{name}.png"))


def look_at(browser, page):
    view(browser, 1280, 900)
    browser.get(page.as_uri())
    check_charts(browser)
    check_error_bars(browser)
    check_range_buttons(browser)
    check_sliders(browser)
    check_enlarging(browser)
    check_pictures(browser)
    check_dark(browser)
    check_phone(browser)
    check_charts(browser)
    check_bars(browser)
    if arguments.screenshots:
        screenshots(browser, arguments.screenshots, page.stem)
    check_silence(browser)


def write_table(path, rows):
    path.write_text("".join(",".join(f"{value:.6g}" for value in row) + "\n" for row in rows))


def make_pages(sample, gsc, folder):
    """The sample and, with small data, a page of each command that writes one."""
    pages = {name: folder / f"{name}.html" for name in ("sample", "denoise", "fit", "separate", "compare")}
    subprocess.run([sample, pages["sample"]], check=True)

    def run(command, source, output, *options):
        subprocess.run([gsc, command, folder / source, "-o", folder / output, "--report", pages[command], "--quiet",
                        *options], check=True)

    checks = bytes(190 if (x // 7 + y // 5) % 2 else 60 + x for y in range(40) for x in range(56))
    (folder / "checks.pgm").write_bytes(b"P5 56 40 255\n" + checks)
    run("denoise", "checks.pgm", "out.png", "--add-noise", "25", "--quality", "fast", "--iterations", "3",
        "--latents", "16")
    run("compare", "checks.pgm", "compare.json", "--add-noise", "25", "--iterations", "5", "--latents", "16")
    numbers = random.Random(1)
    write_table(folder / "points.csv", [[numbers.gauss(0, 1) ** 3 for _ in range(16)] for _ in range(300)])
    run("fit", "points.csv", "model.h5", "--latents", "6", "--candidates", "4", "--max-active", "2",
        "--iterations", "12")
    sources = [(numbers.gauss(0, 1) ** 3, numbers.gauss(0, 1) ** 3) for _ in range(400)]
    write_table(folder / "mix.csv", [(a + 0.5 * b, b - 0.4 * a) for a, b in sources])
    run("separate", "mix.csv", "sources", "--restarts", "2", "--iterations", "12")
    assert 'class="slider"' in pages["denoise"].read_text(), "the page of gsc denoise has no slider"
    return list(pages.values())


parser = argparse.ArgumentParser()
parser.add_argument("files", type=pathlib.Path, nargs="+")
parser.add_argument("--screenshots", type=pathlib.Path)
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as work:
    pages = [file.resolve() for file in arguments.files]
    if pages[0].suffix != ".html":
        pages = make_pages(*pages, pathlib.Path(work))
    browser = start(work)
    try:
        for page in pages:
            print(page.stem, flush=True)
            look_at(browser, page)
    finally:
        browser.quit()
print("all pages draw, move and stay silent")
