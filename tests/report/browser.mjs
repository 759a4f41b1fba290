// Opens a page in a headless Chromium and says what it did: one JSON object on standard output.
//
//   node browser.mjs CHROMIUM PAGE.html [--probe] [--shot NAME WIDTH light|dark|print]...
//
//   title, requests (URLs but that of the page), messages (console, log, policy violations), scripts (that were
//   compiled in the page), counts of charts, lines and elements, and the width of the page at 360 px.
//   --probe     first put a script, an image and an inline style into a copy of the page: the test that this test can fail
//   --shot      write a picture of 1,100 lines; WIDTH may be WIDTH+TOP
//
// It talks to the browser through pipes, so no port is open and nothing has to be installed.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [chromium, page, ...more] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "countersign-browser-"));
const LIMIT_MS = 50000;

class Browser {
    #child;
    #text = "";
    #number = 0;
    #waiting = new Map();
    on = () => {};

    constructor() {
        this.#child = spawn(
            chromium,
            ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${folder}/profile`,
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"],
            { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
        );
        this.#child.on("exit", () => this.#waiting.forEach(({ reject }) => reject(new Error("the browser ended"))));
        this.#child.on("error", (error) => this.#waiting.forEach(({ reject }) => reject(error)));
        this.#child.stdio[3].on("error", () => {});
        this.#child.stdio[4].setEncoding("utf8").on("data", (chunk) => this.#take(chunk));
    }

    #take(chunk) {
        const parts = (this.#text + chunk).split("\0");
        this.#text = parts.pop();
        for (const part of parts) {
            const message = JSON.parse(part);
            const call = this.#waiting.get(message.id);
            this.#waiting.delete(message.id);
            if (call === undefined) this.on(message.method, message.params);
            else if (message.error) call.reject(new Error(message.error.message));
            else call.resolve(message.result);
        }
    }

    call(method, params = {}, sessionId = undefined) {
        const id = ++this.#number;
        this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    }

    async end() {
        const ended = new Promise((resolve) => this.#child.on("exit", resolve));
        await this.call("Browser.close").catch(() => this.#child.kill("SIGKILL"));
        await ended;
    }
}

function probed(text) {
    const planted =
        '<script>document.title="planted"</script><img src="http://probe.invalid/x.png" onerror="document.title=1"/>' +
        '<p style="color:red">x</p>';
    return text.replace("<main>", `<main>${planted}`);
}

async function look(browser, url) {
    const seen = { requests: [], messages: [], scripts: 0 };
    let loaded = () => {};
    browser.on = (method, params) => {
        if (method === "Network.requestWillBeSent" && params.request.url !== url) seen.requests.push(params.request.url);
        if (method === "Log.entryAdded") seen.messages.push(`${params.entry.source}: ${params.entry.text}`);
        if (method === "Runtime.consoleAPICalled") seen.messages.push(`console: ${params.type}`);
        if (method === "Runtime.exceptionThrown") seen.messages.push("exception");
        if (method === "Audits.issueAdded") seen.messages.push(`issue: ${params.issue.code}`);
        if (method === "Debugger.scriptParsed") seen.scripts++;
        if (method === "Page.loadEventFired") loaded();
    };
    const { targetId } = await browser.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.call("Target.attachToTarget", { targetId, flatten: true });
    const call = (method, params) => browser.call(method, params, sessionId);
    for (const domain of ["Page", "Network", "Log", "Runtime", "Audits", "Debugger"]) await call(`${domain}.enable`);
    const load = new Promise((resolve) => (loaded = resolve));
    await call("Page.navigate", { url });
    await load;
    await new Promise((resolve) => setTimeout(resolve, 300)); // for what a script would still ask for
    const scripts = seen.scripts;
    const value = async (expression) => (await call("Runtime.evaluate", { expression, returnByValue: true })).result.value;
    const size = (width) =>
        call("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
    await size(360);
    await value('document.querySelectorAll("details").forEach((it) => (it.open = true))');
    const found = {
        title: await value("document.title"),
        ...seen,
        scripts,
        charts: await value('document.querySelectorAll("svg.chart").length'),
        lines: await value('document.querySelectorAll("svg.chart polyline").length'),
        entries: await value('document.querySelectorAll("details.entry").length'),
        images: await value('document.querySelectorAll("img, script, iframe, object, embed, link, base, form").length'),
        styled: await value('getComputedStyle(document.querySelector(".entry")).borderTopStyle'),
        widthAt360: await value("document.documentElement.scrollWidth"),
    };
    return { found, call, value, size };
}

async function shoot({ call, value, size }, name, width, how) {
    await value('document.querySelectorAll("details").forEach((it) => (it.open = false))');
    await value('[...document.querySelectorAll("details.entry")].slice(4, 5).forEach((it) => (it.open = true))');
    const media = how === "print" ? { media: "print" } : { features: [{ name: "prefers-color-scheme", value: how }] };
    await call("Emulation.setEmulatedMedia", media);
    const [wide, top = 0] = width.split("+").map(Number);
    await size(wide);
    const clip = { x: 0, y: top, width: wide, height: 1100, scale: 1 };
    const { data } = await call("Page.captureScreenshot", { captureBeyondViewport: true, clip });
    writeFileSync(name, Buffer.from(data, "base64"));
}

const timer = setTimeout(() => {
    process.stderr.write("browser.mjs: it took too long\n");
    process.exit(3);
}, LIMIT_MS);
const browser = new Browser();
try {
    let file = resolve(page);
    if (more[0] === "--probe") {
        more.shift();
        file = join(folder, "probed.html");
        writeFileSync(file, probed(readFileSync(page, "utf8")));
    }
    const seen = await look(browser, pathToFileURL(file).href);
    process.stdout.write(`${JSON.stringify(seen.found)}\n`);
    for (let at = 0; more[at] === "--shot"; at += 4) await shoot(seen, more[at + 1], more[at + 2], more[at + 3]);
} catch (error) {
    process.stderr.write(`browser.mjs: ${error.message}\n`);
    process.exitCode = 3;
} finally {
    clearTimeout(timer);
    await browser.end();
    rmSync(folder, { recursive: true, force: true });
}
