// Fills the page from the document in #data, which --format=json prints: a report, what verify found, what diff says of
// two compiles, or a table of reports. All text of the input becomes text nodes, never markup.
'use strict';

(() => {
const SVG = 'http://www.w3.org/2000/svg';
const data = JSON.parse(document.getElementById('data').textContent);
const overview = document.getElementById('overview'), list = document.getElementById('findings');

// ---- elements ----

// make('p', {class: 'x', onclick: f}, 'text', element, ...)
function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {}))
        if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
        else if (value !== undefined && value !== false) e.setAttribute(key, value === true ? '' : value);
    e.append(...children.filter((c) => c !== undefined && c !== ''));
    return e;
}

function draw(tag, attributes, ...children) {
    const e = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
}

function time(us) {
    let x = us, unit = 0;
    for (; unit < 2 && Math.abs(x) >= 999.5; unit++) x /= 1000;
    return `${x.toFixed(Math.abs(x) < 9.95 ? 1 : 0)} ${['us', 'ms', 's'][unit]}`;
}

// What fusing saves; a dash where it is nothing.
const saving = (us) => us >= .05 ? time(us) : '–';
const base = (file) => file.split('/').pop();
const plural = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
const sum = (items, of) => items.reduce((total, x) => total + of(x), 0);

// ---- the drawing of a place ----

// A box with the name of its op, and below it on the edge the shape of what it yields.
const BOX = 22, ON_EDGE = 18, CHARACTER = 7.3, LEAST_SCALE = .72;

function box(id, part, title, shape, line) {
    return {id, part, title, shape, line, width: Math.max(title.length, shape.length * .85, 4) * CHARACTER + 16, height: BOX + ON_EDGE};
}

// Results are told by the op: "%5#1" is of "%5".
const definer = (value) => value.split('#')[0];
const operand = (name, value) => name === undefined ? value : `${name} = ${value}`;

function before(place) {
    const names = new Map(Object.entries(place.takes || {}).map(([name, value]) => [value, name]));
    const title = (op) => op.part === 'outside' && op.value ? operand(names.get(op.value), op.value) : op.op;
    const nodes = place.ops.map((op, i) => box(i, op.part, title(op), op.type || '', op.line));
    const made = new Map();
    place.ops.forEach((op, i) => op.value && made.set(definer(op.value), i));
    const edges = place.ops.flatMap((op, to) => (op.operands || []).filter((v) => made.has(definer(v)))
        .map((v) => ({from: made.get(definer(v)), to})));
    return {nodes, edges};
}

function after(entry, place) {
    const matched = place.ops.filter((op) => op.part === 'matched'), result = matched[matched.length - 1];
    const types = new Map(place.ops.filter((op) => op.value).map((op) => [op.value, op.type]));
    const fused = box('fused', 'fused', entry.fused_op, result.type || '');
    const operands = Object.entries(place.takes || {}).map(([name, value]) =>
        box(name, 'outside', operand(name, value), types.get(value) || ''));
    return {nodes: [...operands, fused], edges: operands.map((o) => ({from: o.id, to: 'fused'}))};
}

function picture(graph, says) {
    const at = layout(graph.nodes, graph.edges), pad = 6, width = Math.ceil(at.width) + 2 * pad, height = at.height + 2 * pad;
    const svg = draw('svg', {role: 'img', 'aria-label': says, width, height, viewBox: `${-pad} ${-pad} ${width} ${height}`});
    svg.style.minWidth = `${LEAST_SCALE * width}px`; // smaller text is not read: the figure scrolls
    for (const e of at.edges) {
        const [first, ...rest] = e.points;
        svg.append(draw('path', {d: `M${first}` + rest.map(([x, y], i) => {
            const [px, py] = e.points[i], middle = (py + y) / 2;
            return `C${px} ${middle} ${x} ${middle} ${x} ${y}`;
        }).join('')}));
    }
    for (const n of graph.nodes) {
        const {x, y} = at.nodes[n.id], top = y - n.height / 2, bottom = top + BOX;
        svg.append(draw('g', {class: n.part},
            draw('title', {}, [n.title, n.shape, n.line ? `line ${n.line}` : ''].filter(Boolean).join(', ')),
            draw('path', {d: n.part === 'outside' ? '' : `M${x} ${bottom}V${bottom + ON_EDGE}`}),
            draw('rect', {x: x - n.width / 2, y: top, width: n.width, height: BOX, rx: 5}),
            draw('text', {x, y: top + BOX / 2}, n.title),
            draw('text', {x, y: bottom + ON_EDGE / 2, class: 'shape'}, n.shape)));
    }
    return {svg, width};
}

function drawings(entry, place) {
    const drawn = drawingOf(place);
    if (!drawn) return '';
    const ops = drawn.ops.filter((op) => op.part === 'matched');
    const says = `${ops.map((op) => op.op).join(', ')}; in their place ${entry.fused_op}`;
    const now = picture(before(drawn), `now ${says}`), fused = picture(after(entry, drawn), `fused: ${entry.fused_op}`);
    const out = make('div', {class: 'drawings'},
        make('figure', {tabindex: 0}, make('figcaption', {}, `Now: ${plural(ops.length, 'op')}` +
            (drawn.ops.some((op) => op.part === 'through') ? '; dashed: looked through' : '') +
            (drawn === place ? '' : '; values as at the first place alike')), now.svg),
        make('figure', {tabindex: 0}, make('figcaption', {}, 'Fused'), fused.svg));
    out.style.setProperty('--now', `${now.width}fr`);
    out.style.setProperty('--fused', `${fused.width}fr`);
    return out;
}

// ---- text of the input ----

// "12-14, 20" as numbers.
function numbers(ranges) {
    return (ranges || '').split(', ').filter(Boolean).flatMap((range) => {
        const [first, last] = range.split('-').map(Number);
        return Array.from({length: (last || first) - first + 1}, (_, i) => first + i);
    });
}

function code(title, text, ranges) {
    if (!text) return '';
    const lines = text.replace(/\n$/, '').split('\n'), at = numbers(ranges), pre = make('pre', {tabindex: 0});
    const begins = (line) => /^[%"\w]/.test(line), known = lines.filter(begins).length === at.length; // lines of an op follow it
    let number = 0;
    lines.forEach((line) => {
        number = begins(line) ? at.shift() : number + 1;
        const [, head, op, rest] = line.match(/^(.*?)("?[a-z_]+\.[a-z_0-9]+"?)(.*)$/s) || [0, line, '', ''];
        pre.append(known ? make('span', {class: 'at'}, `${number}`) : '', head,
            op ? make('mark', {}, op) : '', rest, '\n');
    });
    return make('div', {}, make('h3', {}, title, ranges ? make('span', {class: 'faint'}, ` line${/\D/.test(ranges) ? 's' : ''} ${ranges}`) : ''), pre);
}

// ---- commands to copy ----

const quoted = (s) => /^[\w./:=,%+-]+$/.test(s) ? s : `'${s.replace(/'/g, `'\\''`)}'`;

const inputFiles = () => [data.input.ttir, data.input.ttnn].filter((f, i, all) => f && all.indexOf(f) === i);
const last = (ranges) => numbers(ranges).pop();

// What each button copies, and what for, of one place or of all. `apply` rewrites TTIR, and takes the place by its line there.
function commands(entry, place, everywhere) {
    const files = inputFiles().map(quoted), only = `--only=${quoted(entry.fused_op)}`;
    const root = entry.component_ops[entry.component_ops.length - 1], line = last(place.ttnn_lines) || last(place.ttir_lines);
    const all = [
        ['explain', [...(line ? [`--at=${quoted(`${root} ${line}`)}`] : []), only, ...files], 'what matches here, and what nearly does'],
        ['repro', [only, '-d', 'repro', ...files], 'small modules of these places'],
    ];
    if (place.ttir_lines && data.input.ttir)
        all.push(['apply', [...(everywhere ? [] : [`--at=${last(place.ttir_lines)}`]), only, '-o', 'fused.mlir', quoted(data.input.ttir)],
            'the TTIR module with the fused op in it' + ((place.preconditions || []).length ? '; says what has to be assumed' : '')]);
    if (place.ttir_lines && data.input.ttir)
        all.push(['pass', [...(everywhere || !line ? [] : [`--at=${quoted(`${root} ${line}`)}`]), only, '-o', 'passes', ...files],
            'a rewrite pattern of the compiler for what stands here, with a test']);
    return all.map(([name, words, purpose]) => command(name, words, purpose));
}

const command = (name, words, purpose) => ({name, title: `Copy ${name}`, text: ['fusion-audit', name, ...words].join(' '), purpose});
const copies = (commands) => commands.length ? make('div', {class: 'copy'}, ...commands.flatMap(copyable)) : '';

function copyable({title, text, purpose}) {
    return [make('button', {class: 'button', type: 'button', onclick: () => copy(text)}, title),
            make('span', {}, make('code', {}, text), make('span', {class: 'faint'}, ` ${purpose}`))];
}

// Shown as long as nothing else is said; what passes goes after a while.
const PASSES_MS = 4000;
let said = '', passing = 0;
function say(text, passes = false) {
    clearTimeout(passing);
    document.getElementById('status').textContent = text;
    if (passes) passing = setTimeout(() => say(said), PASSES_MS);
    else said = text;
}

function copy(text) {
    const done = () => say(`Copied: ${text}`, true);
    const by_hand = () => {
        const area = make('textarea', {'aria-hidden': 'true'});
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
        done();
    };
    if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).then(done, by_hand);
    else by_hand();
}

// ---- findings ----

const entries = data.missed_fusions || [];
const places = entries.flatMap((entry) => entry.instances.map((place) => ({entry, place})));
// A place that is alike to one before it has the drawing of that one.
const drawn = new Map(places.filter((x) => x.place.ops).map(({place}) => [place.fingerprint, place]));
const drawingOf = (place) => place.ops ? place : drawn.get(place.alike);
const layerOf = (place) => place.layer || '';

function facts(pairs) {
    return make('dl', {class: 'facts'}, ...pairs.filter(([, text]) => text && text.length !== 0)
        .flatMap(([name, text]) => [make('dt', {}, name), make('dd', {}, ...[].concat(text))]));
}

function body(entry, place) {
    const items = (list) => (list || []).length ? [make('ul', {}, ...list.map((p) => make('li', {}, p)))] : '';
    return make('div', {class: 'body'},
        place.summary ? make('p', {class: 'lead'}, place.summary) : '',
        facts([['What to do, and why', place.action], ['Saves', place.saves], ['Correct if', items(place.preconditions)],
               ['Note', items([...(place.remarks || []), ...(place.outside || [])])],
               ['Known', place.known], ['Source', place.source], ['Locations in the IR', place.ir_loc && make('span', {class: 'name'}, place.ir_loc)]]),
        copies(commands(entry, place)),
        drawings(entry, place),
        make('div', {class: 'levels'}, code('TTIR', place.ttir_segment, place.ttir_lines),
            code('TTNN', place.ttnn_segment, place.ttnn_lines)),
        place.verdict ? make('details', {}, make('summary', {}, 'Proof'), make('p', {}, place.verdict)) : '',
        make('details', {}, make('summary', {}, 'Everything the report says'), make('pre', {tabindex: 0}, place.notes)));
}

function card(entry, place) {
    const details = make('details', {class: 'finding'},
        make('summary', {}, make('span', {class: 'saved'}, saving(place.saved_us)),
            make('span', {class: 'place'}, place.place || place.ir_loc || 'at a place without a name'),
            place.source ? make('span', {class: 'faint'}, place.source) : '',
            place.known ? make('span', {class: 'tag'}, 'known') : '',
            entry.source !== 'ttnn' ? make('span', {class: 'tag'}, entry.source) : ''));
    const fill = () => details.querySelector('.body') || details.append(body(entry, place));
    details.addEventListener('toggle', () => details.open && fill());
    details.fill = fill;
    return details;
}

const idOf = (entry) => `entry-${entries.indexOf(entry)}`;
// What tells two entries of one fused op apart.
const variant = (entry) => make('span', {class: 'faint'}, entry.source !== 'ttnn' ? ', no TTNN kernel' : !entry.lacks ? ''
    : entry.lacks === 'the op' ? ', which the dialect lacks' : ` with ${entry.lacks}, which the dialect lacks`);

// Places that differ in names only are one card and a list.
function section(entry, shown) {
    const groups = new Map();
    for (const place of shown) {
        const key = place.alike || place.fingerprint;
        groups.set(key, [...(groups.get(key) || []), place]);
    }
    const saved = sum(shown, (p) => p.counted_us || 0);
    const out = make('section', {'aria-label': `${entry.fused_op}, ${entries.indexOf(entry) + 1} of ${entries.length}`, id: idOf(entry)},
        make('h2', {}, make('span', {class: 'name'}, entry.fused_op), variant(entry), ` at ${plural(shown.length, 'place')}`,
            make('span', {class: 'faint'}, saved >= .05 ? `, saves ${time(saved)}` : ', saves nothing beside the others')),
        make('p', {class: 'faint'}, 'instead of ', make('span', {class: 'name'}, entry.component_ops.join(', '))));
    for (const group of groups.values()) {
        out.append(card(entry, group[0]));
        if (group.length > 1)
            out.append(make('details', {class: 'faint'}, make('summary', {}, `${plural(group.length - 1, 'more place')} alike`),
                ...group.slice(1).map((place) => card(entry, place))));
    }
    return out;
}

// ---- filters ----

const EVERYTHING = {text: '', source: '', op: '', layer: null, action: ''};
const wanted = {...EVERYTHING};
let filters = {};

function matches({entry, place}) {
    const text = wanted.text.toLowerCase();
    return (!wanted.source || entry.source === wanted.source) && (!wanted.op || entry.fused_op === wanted.op) &&
        (wanted.layer === null || layerOf(place) === wanted.layer) && (!wanted.action || place.action === wanted.action) &&
        (!text || [entry.fused_op, place.place, place.source, place.ir_loc, place.notes].some((s) => s && s.toLowerCase().includes(text)));
}

function show() {
    const shown = places.filter(matches);
    list.replaceChildren();
    for (const entry of entries) {
        const here = shown.filter((x) => x.entry === entry).map((x) => x.place);
        if (here.length) list.append(section(entry, here));
    }
    if (!shown.length && places.length) list.append(make('p', {}, 'No finding is like that.'));
    for (const b of document.querySelectorAll('.strip button'))
        b.setAttribute('aria-pressed', String(b.dataset.layer === wanted.layer));
    for (const [key, element] of Object.entries(filters)) element.value = wanted[key] === null ? '*' : wanted[key];
    say(shown.length === places.length ? '' : `${shown.length} of ${plural(places.length, 'place')}`);
}

function want(changes) {
    Object.assign(wanted, changes);
    show();
}

// What is typed is looked for when the typing stops.
const PAUSE_MS = 100;
let typing = 0;
function search(text) {
    clearTimeout(typing);
    typing = setTimeout(() => want({text}), PAUSE_MS);
}

function choice(key, title, values, everything) {
    if (values.length < 2) return '';
    const all = everything === null ? '*' : '';
    filters[key] = make('select', {onchange: (e) => want({[key]: e.target.value === all ? everything : e.target.value})},
        make('option', {value: all}, 'all'), ...values.map((v) => make('option', {value: v}, v || 'outside of layers')));
    return make('label', {}, title, filters[key]);
}

function filterBar() {
    const different = (of) => [...new Set(places.map(of))].filter((x) => x !== undefined);
    filters = {text: make('input', {type: 'search', oninput: (e) => search(e.target.value)})};
    return make('form', {class: 'filters', role: 'search', onsubmit: (e) => e.preventDefault()},
        make('label', {}, 'Search', filters.text),
        choice('op', 'Fused op', different((x) => x.entry.fused_op), ''),
        choice('source', 'Source', different((x) => x.entry.source), ''),
        choice('layer', 'Layer', different((x) => layerOf(x.place)), null),
        choice('action', 'What to do', different((x) => x.place.action), ''),
        make('button', {class: 'button', type: 'button',
            onclick: () => want(EVERYTHING)}, 'Show all'));
}

// ---- overview ----

const MOST_TITLE = 50; // characters

// What the document is, and the sentence that says what is in it.
function head(title, lead, says = '') {
    const put = (id, text) => document.getElementById(id).textContent = text;
    put('title', title);
    document.title = `fusion-audit: ${title.length > MOST_TITLE ? `${title.slice(0, MOST_TITLE)}…` : title}`;
    put('lead', lead);
    put('made', `fusion-audit ${data.version}. ${says}`);
}

// Options of a command are not broken behind their hyphens.
const unbroken = (action) => action.split(/(--[\w=-]+)/).map((part, i) => i % 2 ? make('span', {class: 'name'}, part) : part);

function table(columns, rows, caption) {
    const body = make('tbody', {});
    const fill = () => body.replaceChildren(...rows.map((row) => make('tr', {},
        ...columns.map((c) => make('td', {class: c.number ? 'number' : undefined, 'data-title': c.number && c.title}, ...[].concat(c.cell(row)))))));
    const heads = columns.map((c) => {
        const head = make('th', {scope: 'col', class: c.number ? 'number' : undefined}, make('button', {type: 'button', onclick: () => {
            const down = head.getAttribute('aria-sort') !== 'descending';
            heads.forEach((h) => h.removeAttribute('aria-sort'));
            head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
            rows.sort((a, b) => (c.key(a) > c.key(b) ? 1 : c.key(a) < c.key(b) ? -1 : 0) * (down ? -1 : 1));
            fill();
        }}, c.title));
        return head;
    });
    fill();
    return make('section', {class: 'scroll', tabindex: 0, 'aria-label': caption},
        make('table', {class: 'stack'}, make('thead', {}, make('tr', {}, ...heads)), body));
}

const headed = (title, says) => make('div', {class: 'headed'}, make('h2', {}, title), make('p', {class: 'faint'}, says));

function wantLayer(layer) {
    want({layer: wanted.layer === layer ? null : layer});
    if (wanted.layer !== null) document.querySelector('.filters').scrollIntoView({block: 'start'});
}

function strip() {
    const layers = data.layers || [];
    if (layers.length < 2) return [];
    const total = sum(layers, (l) => l.us), many = new Set(layers.map((l) => l.graph)).size > 1;
    const bars = layers.map((l) => {
        const here = places.filter((x) => layerOf(x.place) === (l.name || '') && x.place.graph === l.graph);
        const saved = l.saved_us, part = l.us ? Math.min(saved / l.us, 1) : 0;
        const name = l.name || 'other', text = `${name} ${time(l.us)}` + (l.name ? '' : ', outside of layers') +
            (many ? `, graph ${l.graph}` : '') + `, ${plural(here.length, 'place')}` + (saved ? `, ${time(saved)} to save` : '');
        const bar = make('span', {class: 'bar'}), label = (text, kind = 'label') => make('span', {class: kind, 'aria-hidden': 'true'}, text);
        bar.style.height = `${100 * part}%`;
        const button = make('button', {type: 'button', title: text, 'aria-label': text, 'aria-pressed': 'false',
            'data-layer': l.name || '', onclick: () => wantLayer(l.name || '')},
            make('span', {class: 'track'}, bar), label(name.replace(/^layer /, ''), 'short'), label(`${name} `), label(time(l.us)));
        button.style.flexGrow = l.us / total;
        return button;
    });
    return [headed('Where the time goes', 'A bar is a layer, as wide as the time that it takes, filled as far as fusing saves. A click shows what is missed there.'),
            make('div', {class: 'strip', role: 'group', 'aria-label': 'Layers'}, ...bars)];
}

const MOST_LINES = 4;

// Where the time of all ops goes, by kind and by place; what is fused beside what is not; what is needless.
function timesOf() {
    const t = data.times;
    if (!t) return [];
    const share = {title: 'Share', number: true, key: (r) => r.us, cell: (r) => `${r.percent} %`};
    const us = (title, key = 'us') => ({title, number: true, key: (r) => r[key] || 0, cell: (r) => r[key] === undefined ? '–' : time(r[key])});
    const count = (title, key) => ({title, number: true, key: (r) => r[key] || 0, cell: (r) => r[key] === undefined ? '–' : `${r[key]}`});
    const text = (title, of) => ({title, key: of, cell: of});
    const bound = [text('Bound by', (r) => r.bound), count('Cores', 'cores')];
    const few = (lines) => lines.split(', ').slice(0, MOST_LINES).join(', ') + (lines.split(', ').length > MOST_LINES ? ', …' : '');
    const where = (r) => [r.source, r.lines && `line ${few(r.lines)} of the input`].filter(Boolean).join('; ');
    const name = (title, key) => ({title, key: (r) => r[key], cell: (r) => make('span', {class: 'name'}, r[key])});
    const part = (title, columns, rows, says = '') => rows.length ? make('details', {}, make('summary', {}, title),
        says && make('p', {class: 'faint'}, says), table(columns, rows, title)) : '';
    const needless = t.needless.length ? [make('h2', {}, 'Needless work'), make('p', {class: 'faint'}, 'What no fused op mends, and no finding counts.'),
        table([us('Time'), share, count('Places', 'places'), text('What', (r) => `${r.kind}: ${r.change}`), text('Where', where)], t.needless, 'Needless work')] : [];
    return [make('h2', {}, `Time of all ops: ${time(data.total_us)}`),
        part('By kind', [us('Time'), share, count('Ops', 'ops'), ...bound, name('Op', 'op')], t.kinds),
        part('By place', [us('Time'), share, count('Ops', 'ops'), us('Each', 'each_us'), ...bound, name('Op', 'op'),
            text('Type', (r) => r.type || ''), text('Where', where)], t.places),
        part('Fused beside not fused', [count('Fused', 'fused'), us('Time', 'fused_us'), count('Not fused', 'unfused'), us('Time now', 'unfused_us'),
            us('If fused', 'if_fused_us'), name('Fused op', 'fused_op'), text('Instead of', (r) => r.instead_of.join(', '))], t.forms), ...needless];
}

const ANSWER = .5; // the part of what can be saved from which on options are the answer
const FIRST = {write: ['pass', 'apply'], extend: ['repro', 'apply'], look: ['repro', 'apply']}; // what to run, by action

// The fused op that saves most.
function firstOp({entry, saved}) {
    const [place] = entry.instances, names = FIRST[place.action_kind] || ['repro'];
    return make('li', {}, make('strong', {}, entry.fused_op), ` at ${plural(entry.instances.length, 'place')} saves about ${time(saved)} of ` +
        `${time(data.total_us)}: ${entry.action}. `, make('span', {class: 'faint'}, place.summary || '', place.saves ? ` At the first place: ${place.saves}.` : ''),
        copies(commands(entry, place, true).filter(({name}) => names.includes(name))));
}

const PART_SAID = .05; // less is not told of what an option saves elsewhere than in the rows of the table

function elsewhere(p) {
    return [[p.parts_us, 'inside of what other rows ask for'], [p.around_us, 'in casts and copies beside the fused ops']].map(([us, where]) =>
        us > PART_SAID * (p.before_us - p.after_us) ? `, ${time(us)} of it ${where}` : '').join('');
}

// What options bring, and where they do not bring most, the fused op that does.
function first() {
    const promises = data.promises || [], brought = promises.length ? promises[0].before_us - promises[promises.length - 1].after_us : 0;
    const steps = promises.map((p, i) => make('li', {}, make('strong', {}, `${i ? 'Then ' : ''}${p.spelled || `set ${p.option}`}`),
        p.spelled ? '' : ` in ${p.pipeline}`, `: saves ${p.at_most ? 'up to ' : 'about '}${time(p.before_us - p.after_us)} of ${time(p.before_us)}`,
        elsewhere(p), p.needs ? ` (needs ${p.needs})` : ''));
    if (promises.length && data.input.ttir && data.input.ttir !== data.input.ttnn)
        steps[steps.length - 1].append(copies([command('try', ['--compiler=ttmlir-opt', quoted(data.input.ttir)],
            'compiles it with these options, and says what they bring')]));
    const [top] = rows().filter((r) => r.entry.action && r.saved > 0);
    if (top && brought < ANSWER * data.saved_us) steps.unshift(firstOp(top));
    return steps.length ? [make('div', {class: 'banner'}, make('h2', {}, 'What to do first'), make('ul', {}, ...steps))] : [];
}

// Shows the entry, with its first place open.
function openFirst(entry) {
    want(EVERYTHING);
    document.getElementById(idOf(entry)).querySelector('.finding').open = true;
}

// Of what several rows take, one counts it: they add up to what is to save.
const rows = () => entries.map((entry) => ({entry, saved: sum(entry.instances, (p) => p.counted_us || 0),
    different: new Set(entry.instances.map((p) => p.alike || p.fingerprint)).size}));

function summary() {
    return table([
        {title: 'Saves', number: true, key: (r) => r.saved, cell: (r) => saving(r.saved)},
        {title: 'Places', number: true, key: (r) => r.entry.instances.length, cell: (r) => `${r.entry.instances.length}` +
            (r.different < r.entry.instances.length ? ` (${r.different} distinct)` : '')},
        {title: 'Fused op', key: (r) => r.entry.fused_op, cell: (r) => [make('a', {href: `#${idOf(r.entry)}`, class: 'name',
            onclick: () => openFirst(r.entry)}, r.entry.fused_op), variant(r.entry)]},
        {title: 'What to do', key: (r) => r.entry.action, cell: (r) => unbroken((r.entry.action || '').split(': (')[0])}, // without shapes
    ], rows(), 'What is missed');
}

function report() {
    const files = inputFiles();
    head(`Missed fusions of ${files.map(base).join(' and ')}`, places.length
        ? `${plural(places.length, 'place')} where ${plural(new Set(entries.map((e) => e.fused_op)).size, 'fused op')} could stand; ` +
          `about ${time(data.saved_us)} of ${time(data.total_us)} to save` + (data.device ? ` (${data.device}).` : '.')
        : 'No fusion is missed.', `Of ${files.join(' and ')}. The keys j and k go from place to place, / searches.`);
    if (!places.length) return overview.append(...timesOf());
    if (data.compiler) overview.append(make('p', {class: 'faint'}, `Compiler: ${data.compiler}`));
    overview.append(make('p', {class: 'faint'}, 'A fused op does in one launch what several ops do now, without writing what is between ' +
            'them to memory and reading it again.'), ...first(), ...strip(), make('h2', {}, 'What is missed'), summary(),
        make('p', {class: 'faint'}, 'Times are estimates of a model of the device, unless a profile was given. ' +
            (rows().some((r) => saving(r.saved) === '–') ? 'A dash: by the model, fusing saves no time there, or another row counts it. ' : '') + 'Distinct places differ in more than names. The rows add up: each op counts once, ' +
            'with what is saved around the places, and a theoretical kernel only where no other row takes its ops.'), ...timesOf(), filterBar());
    show();
}

// ---- what verify, diff and summary say ----

// What each kind is called, and says.
const CHECKS = {
    wrong_fusion: ['wrong fusion', 'What was before is fused into what is after, which computes something else: what does so has to be mended, or turned off.'],
    wrong_lowering: ['wrong lowering', 'What was before became what is after, which computes something else: what does so has to be mended.'],
    use_after_deallocate: ['use after deallocate', 'A value is used after its memory was given back.'],
    not_compared: ['not compared', 'Whether both compute the same is not known.'],
    proved: ['proved', 'Both compute the same.'],
};

// Of TTIR and TTNN.
function checkCommands() {
    const {before, after} = data.input, has = (dialect, text) => (text || '').includes(dialect);
    return data.checks.some((c) => has('ttir.', c.before) && has('ttnn.', c.after))
        ? [command('repro', ['-d', 'repro', quoted(before), quoted(after)], 'small modules that show each')] : [];
}

function check() {
    const {before, after, log} = data.input, wrong = data.checks.filter((c) => !['not_compared', 'proved'].includes(c.kind));
    head(log ? `Stages of ${base(log)}` : `${base(before)} and ${base(after)}`, wrong.length
        ? `${plural(wrong.length, 'place')} where the two do not compute the same.`
        : data.compared.after.not_compared ? 'What was compared computes the same.'
        : log ? 'Each stage computes what the one before it does.' : 'Both compute the same.');
    overview.append(make('p', {class: 'faint'}, 'What lies between values that both modules have is evaluated on numbers; where results ' +
        'differ, the inputs that show it are told.' + (log ? ' Ops are counted over all stages.' : '')));
    const side = (name, file, c) => ({name: file ? `${name}: ${file}` : name, ...c});
    overview.append(table([
        {title: 'Module', key: (r) => r.name, cell: (r) => r.name},
        ...[['Compute ops', 'ops'], ['Proved', 'proved'], ['Different', 'different'], ['Not compared', 'not_compared']]
            .map(([title, key]) => ({title, number: true, key: (r) => r[key], cell: (r) => `${r[key]}`})),
    ], [side('before', before, data.compared.before), side('after', after, data.compared.after)], 'Ops by what was found'));
    data.checks.forEach((c, i) => list.append(make('section', {'aria-label': `${CHECKS[c.kind][0]} ${i + 1}`},
        make('h2', {}, `${CHECKS[c.kind][0]} `, c.fused_op ? make('span', {class: 'name'}, c.fused_op) : '',
            c.pass ? ` by ${c.pass}` : ''),
        make('p', {}, CHECKS[c.kind][1]),
        facts([['Cause', c.unchecked], ['Matters for', c.matters_for], ['By the model of the device', c.on_device], ['Why', c.reason],
               ['Would need', c.needs], ['Location', c.ir_loc && make('span', {class: 'name'}, c.ir_loc)]]),
        c.counterexample ? make('h3', {}, 'Numbers that show it, in shapes that may be smaller') : '',
        c.counterexample ? make('pre', {tabindex: 0}, c.counterexample) : '',
        make('div', {class: 'levels'}, code('Before', c.before, c.before_lines), code('After', c.after, c.after_lines)),
)));
    if (wrong.length && before) list.append(copies(checkCommands()));
}

const listed = (rows) => make('ul', {}, ...rows.map((r) => make('li', {}, ...r)));

function changes(title, kind, rows) {
    return make('div', {}, make('h3', {class: kind}, `${title} (${rows.length})`),
        rows.length ? listed(rows) : make('p', {class: 'faint'}, 'none'));
}

// Of findings those that are new, gone or changed.
function changedFindings(findings, title, kind, change) {
    const here = findings.filter((f) => f.change === change), row = (f) => [make('span', {class: 'name'}, f.fused_op),
        ` ${f.place || f.ir_loc || ''}`, f.saved_us ? `, about ${time(f.saved_us)}` : '', f.fails ? ', fails' : ''];
    return changes(title, kind, here.map(row));
}

const AUDIT = /\.(ya?ml|json)$/; // a report, of which nothing is left to audit

// What all ops take now, against before.
function slower({before, now}) {
    const more = before.total_us && now.total_us ? now.total_us - before.total_us : 0;
    return saving(Math.abs(more)) === '–' ? '' : ` All ops take about ${time(Math.abs(more))} ${more > 0 ? 'more' : 'less'} than before.`;
}

function diff() {
    const lost = ({change}) => change === 'lost' || change === 'partly lost', gained = ({change}) => change === 'gained';
    const {before, now} = data;
    const all = data.fused_ops.flatMap((op) => op.changes.map((c) => ({op: op.fused_op, ...c})));
    const few = (what, is) => plural(all.filter(is).length, `fused op`) + ` ${what}`;
    const are = (change) => data.findings.filter((f) => f.change === change);
    const known = (us) => us === undefined ? '–' : time(us);
    head(`What changed in ${base(now.files[now.files.length - 1])}`, all.length || data.findings.length
        ? `${few('lost', lost)}, ${few('gained', gained)}; ${plural(are('new').length, 'new finding')}, ${are('gone').length} gone.${slower(data)}`
        : 'Nothing changed.');
    overview.append(table([
        {title: 'Compile', key: (r) => r.name, cell: (r) => `${r.name}: ${r.files.join(' and ')}`},
        ...[['All ops take', 'total_us'], ['To save', 'saved_us']].map(([title, key]) =>
            ({title, number: true, key: (r) => r[key] || 0, cell: (r) => known(r[key])})),
        {title: 'Findings', number: true, key: (r) => r.findings, cell: (r) => `${r.findings}`},
    ], [{name: 'before', ...before}, {name: 'now', ...now}], 'Both compiles'));
    const of_op = (c) => [make('span', {class: 'name'}, c.op), ` ${c.place || 'at a place without a name'}`,
        c.now ? `, now ${c.now}` : '', c.how ? `, ${c.how}` : '', c.fails ? ', fails' : ''];
    const ops = (title, kind, is) => changes(title, kind, all.filter(is).map(of_op));
    const findings = (title, kind, change) => changedFindings(data.findings, title, kind, change);
    const both = (title, ...two) => overview.append(make('h2', {}, title), make('div', {class: 'pair'}, ...two));
    if (all.some((c) => lost(c) || gained(c)))
        both('Fused ops', ops('Lost', 'lost', lost), ops('Gained', 'gained', gained));
    if (all.some((c) => c.change === 'changed')) overview.append(ops('Changed', '', (c) => c.change === 'changed'));
    if (are('new').length + are('gone').length)
        both('Places where a fusion is missed', findings('New', 'lost', 'new'), findings('Gone', 'gained', 'gone'));
    if (are('changed').length) overview.append(findings('Changed', '', 'changed'));
    if (now.findings && !now.files.some((f) => AUDIT.test(f)))
        overview.append(copies([{title: 'Copy audit', text: ['fusion-audit', '--format=html', ...now.files.map(quoted)].join(' '),
            purpose: 'writes the page of what is missed now, with what to do'}]));
}

const reportName = (r) => {
    const link = (page) => /^[a-z][a-z0-9+.-]*:/i.test(page) ? `./${page}` : page; // a path, never a scheme
    return r.page ? make('a', {href: link(r.page), class: 'name'}, r.report)
        : make('span', {}, make('span', {class: 'name'}, r.report), r.vanished ? ' (no report any more)' : '');
};

// Of each report what is new and gone against the run before.
function sinceBefore() {
    const changed = data.reports.filter((r) => (r.changes || []).length);
    return changed.length ? [make('h2', {}, 'What changed since the earlier run'), ...changed.map((r) => make('details', {class: 'finding'},
        make('summary', {}, make('span', {class: 'place'}, `${r.report}: ${r.new} new, ${r.gone} gone`)),
        make('div', {class: 'body pair'}, changedFindings(r.changes, 'New', 'lost', 'new'), changedFindings(r.changes, 'Gone', 'gained', 'gone'))))] : [];
}

function models() {
    const again = data.reports.filter((r) => r.new !== undefined), total = (reports, key) => sum(reports, (r) => r[key] || 0);
    const since = again.length ? ` (${time(total(again, 'saved_before_us'))} in the earlier run; ` +
        `${plural(total(again, 'new'), 'place')} new, ${total(again, 'gone')} gone)` : '';
    head('Missed fusions of many models', data.reports.length
        ? `${plural(data.reports.length, 'model')}, ${data.date}; ${time(total(data.reports, 'saved_us'))} to save${since}.` : 'No fusion is missed.');
    if (!data.reports.length) return;
    const figure = (title, key) => ({title, number: true, key: (r) => r[key] || 0, cell: (r) => r[key] === undefined ? '–' : `${r[key]}`});
    const us = (title, key) => ({title, number: true, key: (r) => r[key] || 0, cell: (r) => saving(r[key] || 0)});
    const both = (title, now, before) => ({title, number: true, key: (r) => r[now] || 0, cell: (r) =>
        (r[before] === undefined ? '' : `${time(r[before])} → `) + (r[now] === undefined ? '' : time(r[now]))});
    overview.append(make('h2', {}, 'Models'), table([
        {title: 'Model', key: (r) => r.report, cell: reportName},
        both('All ops', 'total_us', 'total_before_us'), both('To save', 'saved_us', 'saved_before_us'),
        figure('Direct', 'direct'), figure('Library', 'library'), figure('Theoretical', 'theoretical'), figure('Known', 'known'),
        ...(again.length ? [figure('New', 'new'), figure('Gone', 'gone')] : []),
        {title: 'Device, compiler', key: (r) => r.device || '', cell: (r) => [r.device, r.compiler].filter(Boolean).join(', ')}], data.reports, 'Models'),
        make('p', {class: 'faint'}, 'What saves most is first; the page of a model says what to do. Places by what has the fused op: TTNN’s dialect (direct), its library alone, or kernels of torch, ' +
            'triton and cuda (theoretical). Of a model, what is saved is what its time falls by if all that counts is done. ' +
            'Known: in the baseline.' + (again.length ? ' New and gone: against the earlier run.' : '')), ...sinceBefore(),
        make('h2', {}, 'Fused ops'), table([
        {title: 'Fused op', key: (r) => r.fused_op, cell: (r) => make('span', {class: 'name'}, r.fused_op)},
        us('Saves', 'saved_us'), figure('Places', 'places'), figure('Models', 'reports'),
        {title: 'What to do', key: (r) => r.action || '', cell: (r) => unbroken(r.action || '')}], data.fused_ops, 'Fused ops'),
        ...data.options.map((o) => make('p', {}, `${o.option}: about ${time(o.saved_us)} at ${plural(o.places, 'place')} of ${plural(o.reports, 'model')}`)));
}

// ---- runs ----

const CHART = {width: 200, height: 40, pad: 4};

// A line over the runs of a model; a gap where there is no report.
function line(runs, key) {
    const values = runs.map((r) => r[key]).filter((v) => v !== undefined), most = Math.max(...values, 1e-9);
    const at = (r, i) => [CHART.pad + (CHART.width - 2 * CHART.pad) * (runs.length > 1 ? i / (runs.length - 1) : .5),
        CHART.height - CHART.pad - (CHART.height - 2 * CHART.pad) * r[key] / most];
    const svg = draw('svg', {role: 'img', 'aria-label': `${runs.map((r) => r[key] === undefined ? 'none' : r[key]).join(', ')}`,
        width: CHART.width, height: CHART.height, viewBox: `0 0 ${CHART.width} ${CHART.height}`, class: 'chart'});
    let d = '', begun = false;
    runs.forEach((r, i) => {
        const there = r[key] !== undefined;
        if (there) d += `${begun ? 'L' : 'M'}${at(r, i)}`;
        if (there) svg.append(draw('circle', {cx: at(r, i)[0], cy: at(r, i)[1], r: 3, class: r.worse ? 'worse' : ''},
            draw('title', {}, `${r.run}: ${key === 'findings' ? plural(r[key], 'finding') : time(r[key])}`)));
        begun = there;
    });
    svg.prepend(draw('path', {d}));
    return svg;
}

function runs() {
    const names = new Set(data.models.flatMap((m) => m.runs.map((r) => r.run)));
    const all = data.models.flatMap((m) => m.runs.map((r) => ({report: m.report, ...r})));
    const worse = (r) => r.missing ? 'no report' : !r.worse ? '' : [r.worse.us && `slower by ${time(r.worse.us)}`,
        r.worse.new && `new at ${plural(r.worse.new, 'place')}: ${r.worse.fused_ops.join(', ')}`].filter(Boolean).join('; ');
    const became = all.filter((r) => worse(r));
    head('Models over several runs', `${plural(data.models.length, 'model')}, ${plural(names.size, 'run')}; ` +
        (became.length ? `${plural(new Set(became.map((r) => r.report)).size, 'model')} became worse.` : 'none became worse.'));
    const us = (title, key) => ({title, number: true, key: (r) => r[key] || 0, cell: (r) => r[key] === undefined ? '–' : time(r[key])});
    const columns = [{title: 'Model', key: (r) => r.report, cell: (r) => r.report}, {title: 'Run', key: (r) => r.run, cell: (r) => r.run}];
    const count = {title: 'Findings', number: true, key: (r) => r.findings || 0, cell: (r) => r.missing ? '–' : `${r.findings}`};
    const says = {title: 'Became worse', key: worse, cell: worse};
    const chart = (title, key) => ({title, number: true, key: (m) => m.runs[m.runs.length - 1][key] || 0, cell: (m) => line(m.runs, key)});
    overview.append(table([columns[0], chart('All ops', 'total_us'), chart('Findings', 'findings')], data.models, 'Over the runs'),
        make('p', {class: 'faint'}, 'From zero up, the runs in order; a point in colour became worse.'));
    if (became.length) overview.append(make('h2', {}, 'What became worse'), table([...columns, us('All ops', 'total_us'), count, says], became, 'What became worse'));
    overview.append(make('h2', {}, 'All runs'), table([...columns, us('All ops', 'total_us'), us('Saves', 'saved_us'), count, says], all, 'All runs'));
}

// ---- keyboard and paper ----

document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    const heads = [...document.querySelectorAll('.finding > summary')].filter((s) => s.offsetParent);
    const at = heads.indexOf(document.activeElement);
    if (e.key === 'j' && heads[at + 1]) heads[at + 1].focus();
    else if (e.key === 'k' && heads[at - 1]) heads[at - 1].focus();
    else if (e.key === '/' && filters.text) filters.text.focus();
    else return;
    e.preventDefault();
});

// On paper each different place is open, and those alike are a list.
const MOST_PRINTED = 100;
let opened = [];
window.addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('section > .finding')].slice(0, MOST_PRINTED);
    opened.forEach((f) => f.fill && f.fill());
    opened = [...opened, ...document.querySelectorAll('section > details:not(.finding), .pair details')].filter((d) => !d.open);
    opened.forEach((d) => (d.open = true));
});
window.addEventListener('afterprint', () => opened.forEach((d) => (d.open = false)));

if (data.missed_fusions) report();
else if (data.checks) check();
else if (data.reports) models();
else if (data.models) runs();
else diff();
})();
