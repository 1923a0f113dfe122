// The page in a browser: what is clicked, typed and copied, in light and dark, wide and narrow; axe-core finds nothing.
// By hand, since a browser takes long to install: puppeteer-core and axe-core have to be where NODE_PATH says. Where
// html-validate and tidy are there, they find nothing either.
//
// usage: NODE_PATH=DIR/node_modules node tests/page_test.js PROGRAM [BROWSER]
'use strict';
const assert = require('node:assert'), fs = require('node:fs'), os = require('node:os'), path = require('node:path');
const {spawnSync} = require('node:child_process');
let puppeteer, axe;
try {
    puppeteer = require('puppeteer-core');
    axe = require('axe-core').source;
} catch (e) {
    console.log('skipped: puppeteer-core or axe-core is not there');
    process.exit(77);
}
const [program, browser = '/usr/bin/chromium'] = process.argv.slice(2);
if (!fs.existsSync(browser)) {
    console.log(`skipped: no ${browser}`);
    process.exit(77);
}
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'page'));
const file = (name) => path.join(directory, name);

// Layers of a linear that is not fused; the names of the first are hostile.
function model(layers, fused, dialect = 'ttnn') {
    const matrix = 'tensor<32x64xbf16>', arguments_ = [`%x: ${matrix}`], lines = [];
    let value = '%x';
    for (let i = 0; i < layers; i++) {
        const name = (part) => `model.layers.${i}.fc${i ? '' : '<img src=x onerror=alert(1)>'}.${part}`;
        arguments_.push(`%w${i}: tensor<64x64xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "${name('weight')}"}`,
                        `%b${i}: tensor<64xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "${name('bias')}"}`);
        if (fused) {
            lines.push(`%a${i} = "${dialect}.linear"(${value}, %w${i}, %b${i}) <{transpose_a = false, transpose_b = false}> : (${matrix}, tensor<64x64xbf16>, tensor<64xbf16>) -> ${matrix}`);
        } else {
            lines.push(`%m${i} = "${dialect}.matmul"(${value}, %w${i}) <{transpose_a = false, transpose_b = false}> : (${matrix}, tensor<64x64xbf16>) -> ${matrix}`,
                       `%a${i} = "${dialect}.add"(%m${i}, %b${i}) : (${matrix}, tensor<64xbf16>) -> ${matrix}`);
        }
        value = `%a${i}`;
    }
    return `module {\n  func.func @main(${arguments_.join(', ')}) -> ${matrix} {\n    ${lines.join('\n    ')}\n` +
           `    return ${value} : ${matrix}\n  }\n}\n`;
}

function run(...args) {
    const done = spawnSync(path.resolve(program), args, {cwd: directory, encoding: 'utf8', maxBuffer: 1 << 28});
    assert.ok(done.status <= 1, done.stderr);
    return done.stdout;
}

async function open(tab, name) {
    const errors = [];
    tab.removeAllListeners('pageerror');
    tab.removeAllListeners('request');
    tab.on('pageerror', (e) => errors.push(e.message));
    tab.on('request', (r) => r.url().startsWith('file:') || errors.push(r.url())); // nothing is fetched
    const begin = Date.now();
    await tab.goto(`file://${file(name)}`);
    return {errors, ms: Date.now() - begin};
}

async function accessible(tab) {
    await tab.evaluate(axe);
    const found = await tab.evaluate(() => window.axe.run());
    assert.deepStrictEqual(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html).slice(0, 3)]), []);
}

async function valid() {
    const tidy = spawnSync('tidy', ['--version']).error === undefined;
    let validator;
    try {
        validator = new (require('html-validate').HtmlValidate)({extends: ['html-validate:recommended']});
    } catch (e) {
        console.log('html-validate is not there');
    }
    for (const page of fs.readdirSync(directory).filter((f) => f.endsWith('.html')).map(file)) {
        if (validator) assert.deepStrictEqual((await validator.validateFile(page)).results, [], page);
        if (tidy) assert.strictEqual(spawnSync('tidy', ['-e', '-q', page], {encoding: 'utf8'}).stderr, '', page);
    }
}

const count = (tab, selector) => tab.$$eval(selector, (all) => all.filter((e) => e.checkVisibility()).length);
const text = (tab, selector) => tab.$eval(selector, (e) => e.textContent);

async function report(tab) {
    const {errors} = await open(tab, 'm.html');
    assert.match(await text(tab, '#lead'), /^3 places where 1 fused op could stand/);
    assert.match(await text(tab, '.banner'), /^What to do first\s*set enable-fusing-pass=true .*: saves up to [\d.]+ us of [\d.]+ us/);
    assert.deepStrictEqual(await tab.$$eval('.banner button', (all) => all.map((b) => b.textContent)), []); // an option is set, not run
    assert.strictEqual(await count(tab, '.strip button'), 3);
    assert.strictEqual(await count(tab, 'img'), 0); // a name is no markup
    await tab.click('.finding > summary');
    await tab.waitForSelector('.finding[open] svg');
    assert.strictEqual(await count(tab, '.finding[open] svg'), 2);
    assert.match(await text(tab, '.finding[open]'), /onerror=alert/);
    assert.match(await text(tab, '.finding[open] pre'), /ttnn\.matmul/);
    assert.match(await text(tab, '.finding[open] .facts'), /What to do, and why.*Saves/s);
    // shapes are on the edges: below each box, with what the fused op calls the values
    assert.deepStrictEqual(await tab.$$eval('.finding[open] figure:first-of-type text', (all) => all.map((e) => e.textContent)),
        ['a = %x', '32x64xbf16', 'b = %w0', '64x64xbf16', 'bias = %b0', '64xbf16', 'ttnn.matmul', '32x64xbf16', 'ttnn.add', '32x64xbf16']);
    assert.strictEqual(await count(tab, 'img'), 0);
    await accessible(tab);
    await tab.click('.finding[open] .copy button');
    await tab.waitForFunction(() => document.getElementById('status').textContent.startsWith('Copied'));
    assert.ok(await tab.$eval('#status', (e) => e.getBoundingClientRect().bottom <= innerHeight)); // it is seen
    assert.match(await text(tab, '#status'), /^Copied: fusion-audit explain --at='ttnn\.add \d+' --only=ttnn\.linear m\.mlir$/);
    assert.strictEqual(await count(tab, '.finding[open] .copy button'), 2);
    const copied = (await text(tab, '#status')).slice('Copied: '.length), input = 'input[type=search]';
    await tab.focus(input);
    await tab.keyboard.down('Control');
    await tab.keyboard.press('v');
    await tab.keyboard.up('Control');
    assert.strictEqual(await tab.$eval(input, (e) => e.value), copied);
    await tab.$eval(input, (e) => {
        e.value = '';
        e.dispatchEvent(new Event('input'));
        e.blur();
    });
    await tab.waitForFunction(() => document.getElementById('status').textContent === '');
    // keys
    await tab.keyboard.press('/');
    await tab.keyboard.type('layers.1');
    await tab.waitForFunction(() => document.getElementById('status').textContent === '1 of 3 places');
    await tab.keyboard.press('Tab');
    await tab.evaluate(() => document.activeElement.blur());
    await tab.keyboard.press('j');
    assert.ok(await tab.evaluate(() => document.activeElement.matches('.finding > summary')));
    // filters
    await tab.evaluate(() => [...document.querySelectorAll('.filters button')].pop().click());
    await tab.click('.strip button:nth-child(3)');
    assert.strictEqual(await text(tab, '#status'), '1 of 3 places');
    assert.strictEqual(await tab.$eval('.strip button:nth-child(3)', (b) => b.getAttribute('aria-pressed')), 'true');
    await tab.click('.strip button:nth-child(3)');
    assert.strictEqual(await text(tab, '#status'), '');
    await tab.click('td a'); // leads to its first place, which is open
    assert.strictEqual(await count(tab, '.finding[open]'), 1);
    assert.strictEqual(await tab.evaluate(() => location.hash), '#entry-0');
    await tab.click('th button');
    assert.strictEqual(await tab.$eval('th', (h) => h.getAttribute('aria-sort')), 'descending');
    assert.deepStrictEqual(errors, []);
}

// Printed, each different place is open; then it is as it was.
async function paper(tab) {
    for (const [name, different, alike] of [['m.html', 1, 2], ['since.html', 1, 0]]) {
        const {errors} = await open(tab, name);
        await tab.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
        assert.strictEqual(await count(tab, '.finding[open] > .body'), different);
        assert.strictEqual(await count(tab, '.finding:not([open])'), alike);
        await tab.evaluate(() => window.dispatchEvent(new Event('afterprint')));
        assert.strictEqual(await count(tab, '.finding[open]'), 0);
        assert.deepStrictEqual(errors, []);
    }
}

async function others(tab) {
    for (const [name, lead] of [['diff.html', /3 fused ops lost, 0 fused ops gained; 3 new findings, 0 gone\. All ops take about [\d.]+ us more than before\./],
                                ['same.html', /^Nothing changed\.$/], ['wrong.html', /^1 place where the two do not compute the same/],
                                ['check.html', /^Both compute the same/], ['index.html', /^1 model/], ['clean.html', /^No fusion is missed/]]) {
        const {errors} = await open(tab, name);
        assert.match(await text(tab, '#lead'), lead);
        await accessible(tab);
        assert.deepStrictEqual(errors, [], name);
    }
    await open(tab, 'diff.html');
    assert.strictEqual(await count(tab, '.pair li'), 3); // a lost op is not listed again as new
    assert.match(await text(tab, '.pair details'), /^3 where fused ops were lost/);
    assert.strictEqual(await count(tab, 'img'), 0);
    assert.match(await text(tab, '.copy code'), /^fusion-audit --format=html m\.mlir$/);
    await open(tab, 'wrong.html');
    assert.match(await text(tab, '#findings'), /at \[\d.*\]: before [-\d.]+, after [-\d.]+/); // the counterexample, as numbers
    assert.match(await text(tab, '.levels'), /^Before lines 3-4.*After line 3/s);
    assert.deepStrictEqual(await tab.$$eval('.levels .at', (all) => all.map((e) => e.textContent)), ['3', '4', '5', '3']); // an op on two lines
    assert.strictEqual(await count(tab, 'img'), 0);
    await open(tab, 'both.html');
    assert.match(await text(tab, '.banner'), /^What to do first\s*Set enable-fusing-pass=true in ttir-to-ttnn-backend-pipeline: about [\d.]+ us becomes [\d.]+ us/);
    await tab.click('.finding > summary');
    await tab.waitForSelector('.finding[open] svg');
    const copied = await tab.$$eval('.banner .copy code, .finding[open] .copy code', (all) => all.map((e) => e.textContent));
    assert.deepStrictEqual(copied.map((c) => c.split(' ')[1]), ['try', 'explain', 'repro', 'apply', 'pass']);
    for (const command of copied.slice(1)) { // each works as it is
        const done = spawnSync('sh', ['-c', command.replace('fusion-audit', path.resolve(program))], {cwd: directory, encoding: 'utf8'});
        assert.strictEqual(done.status, 0, command + done.stderr);
        fs.rmSync(file('repro'), {recursive: true, force: true});
    }
    assert.match(fs.readFileSync(file('fused.mlir'), 'utf8'), /"ttir\.linear"/);
    assert.ok(fs.existsSync(file('passes/LinearFusingPattern.cpp')));
    await open(tab, 'index.html');
    await Promise.all([tab.waitForNavigation(), tab.click('td a')]);
    assert.match(await text(tab, '#lead'), /^3 places/);
    await open(tab, 'since.html');
    assert.match(await text(tab, '#lead'), /^2 reports; .*Of 1 there is an earlier run: [\d.]+ us then, [\d.]+ us now; 1 place new, 0 gone\.$/);
    await tab.click('details.finding > summary');
    assert.strictEqual(await count(tab, 'details.finding li'), 1);
    const models = () => tab.$$eval('table:first-of-type tbody tr', (all) => all.slice(0, 2).map((r) => r.textContent));
    const [first, second] = await models();
    await tab.click('th:first-child button');
    assert.deepStrictEqual(await models(), [second, first]);
    await accessible(tab);
}

async function large(tab) {
    const {ms} = await open(tab, 'large.html');
    assert.ok(await count(tab, 'section > .finding, section details') > 0);
    const begin = Date.now();
    await tab.type('input[type=search]', 'layers.77');
    await tab.waitForFunction(() => / of 1000 places$/.test(document.getElementById('status').textContent));
    const filtered = Date.now() - begin;
    console.log(`1,000 findings: opened in ${ms} ms, filtered in ${filtered} ms`);
    assert.ok(ms < 1000 && filtered < 1000);
}

(async () => {
    fs.writeFileSync(file('m.mlir'), model(3));
    fs.writeFileSync(file('f.mlir'), model(3, true));
    fs.writeFileSync(file('l.mlir'), model(1000));
    fs.writeFileSync(file('b.ttir.mlir'), model(12, false, 'ttir'));
    fs.writeFileSync(file('b.ttnn.mlir'), model(12));
    run('--only=ttnn.linear', '-q', '--format=html:both.html', 'b.ttir.mlir', 'b.ttnn.mlir');
    run('--ttnn-only', '--only=ttnn.linear', '-q', '--format=html:m.html', '--format=json:m.json', 'm.mlir');
    run('--ttnn-only', '--only=ttnn.linear', '-q', '--format=html:clean.html', 'f.mlir');
    run('--ttnn-only', '--only=ttnn.linear', '-q', '--no-validate', '--format=html:large.html', 'l.mlir');
    run('verify', '--format=html', '-o', 'check.html', 'm.mlir', 'f.mlir');
    fs.writeFileSync(file('w.mlir'), model(1, true).replace('transpose_b = false', 'transpose_b = true'));
    fs.writeFileSync(file('one.mlir'), model(1).replace('(%m0, %b0)', '(%m0,\n      %b0)'));
    run('verify', '--format=html', '-o', 'wrong.html', 'one.mlir', 'w.mlir');
    fs.writeFileSync(file('same.html'), run('diff', '--only=ttnn.linear', '--format=html', 'm.mlir', 'm.mlir'));
    fs.writeFileSync(file('diff.html'), run('diff', '--only=ttnn.linear', '--format=html', 'f.mlir', 'm.mlir'));
    fs.writeFileSync(file('index.html'), run('summary', '--format=html', 'm.json'));
    fs.mkdirSync(file('was'));
    fs.writeFileSync(file('two.mlir'), model(2));
    run('--ttnn-only', '--only=ttnn.linear', '-q', '--format=json:was/m.json', 'two.mlir');
    fs.copyFileSync(file('m.json'), file('n.json'));
    fs.writeFileSync(file('since.html'), run('summary', '--format=html', '--before=was', 'm.json', 'n.json'));
    const chromium = await puppeteer.launch({executablePath: browser, args: ['--no-sandbox', '--disable-gpu']});
    const tab = await chromium.newPage();
    for (const width of [1300, 390])
        for (const scheme of ['light', 'dark']) {
            await tab.setViewport({width, height: 900});
            await tab.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
            await report(tab);
            assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'wider than the window');
            await others(tab);
        }
    await paper(tab);
    await valid();
    await large(tab);
    await chromium.close();
    fs.rmSync(directory, {recursive: true});
    console.log('OK');
})().catch((e) => {
    console.error(e);
    process.exit(1);
});
