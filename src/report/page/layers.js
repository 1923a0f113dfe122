// Layered drawing of a directed acyclic graph (Sugiyama, Tagawa and Toda 1981): longest-path layers, virtual nodes on
// edges that cross layers, crossings reduced by barycentres, coordinates by averages of neighbours. Returns positions
// only; drawing is elsewhere.
//
// nodes: [{id, width, height}], edges: [{from, to}], by id. Result: {width, height, nodes: {id: {x, y}}, edges:
// [{from, to, points: [[x, y], ...]}]}; x and y are centres.
'use strict';

const SWEEPS = 12, GAP_X = 18, GAP_Y = 24, VIRTUAL_WIDTH = 8;
const LIGHT = .2; // what stands beside the way of a value, and does not bend it: edges that pass, and what only feeds a node

// Each node one layer below the lowest of its predecessors; sources as close to their users as they can be.
function layersOf(nodes, incoming, outgoing) {
    const layer = new Map(), open = new Set();
    const down = (id) => {
        if (layer.has(id)) return layer.get(id);
        if (open.has(id)) return 0; // a cycle, which a graph of values has not
        open.add(id);
        const value = Math.max(-1, ...incoming.get(id).map(down)) + 1;
        layer.set(id, value);
        return value;
    };
    nodes.forEach((n) => down(n.id));
    for (const n of nodes)
        if (incoming.get(n.id).length === 0 && outgoing.get(n.id).length > 0)
            layer.set(n.id, Math.min(...outgoing.get(n.id).map((id) => layer.get(id))) - 1);
    return layer;
}

// Rows of nodes, with a virtual node in each layer that an edge passes.
function rowsOf(nodes, edges, layer, incoming) {
    const least = Math.min(...layer.values()), rows = [], chains = [];
    const put = (node, at) => (rows[at] = rows[at] || []).push(node);
    for (const n of nodes)
        put({id: n.id, width: n.width, height: n.height, weight: incoming.get(n.id).length ? 1 : LIGHT, above: [], below: []},
            layer.get(n.id) - least);
    const byId = new Map(rows.flatMap((row) => row || []).map((n) => [n.id, n]));
    const link = (a, b) => {
        a.below.push(b);
        b.above.push(a);
    };
    for (const e of edges) {
        const chain = [byId.get(e.from)];
        for (let at = layer.get(e.from) + 1; at < layer.get(e.to); at++) {
            const virtual = {width: VIRTUAL_WIDTH, height: 0, weight: LIGHT, above: [], below: []};
            put(virtual, at - least);
            link(chain[chain.length - 1], virtual);
            chain.push(virtual);
        }
        link(chain[chain.length - 1], byId.get(e.to));
        chain.push(byId.get(e.to));
        chains.push({from: e.from, to: e.to, chain});
    }
    const filled = rows.filter(Boolean);
    filled.forEach((row, i) => row.forEach((n) => (n.row = i)));
    return {rows: filled, chains};
}

function number(row) {
    row.forEach((n, i) => (n.order = i));
}

function crossings(rows) {
    let count = 0;
    for (const row of rows) {
        const ends = row.flatMap((n) => n.below.map((b) => [n.order, b.order]));
        for (let i = 0; i < ends.length; i++)
            for (let k = i + 1; k < ends.length; k++)
                if ((ends[i][0] - ends[k][0]) * (ends[i][1] - ends[k][1]) < 0) count++;
    }
    return count;
}

function average(list, of) {
    return list.reduce((sum, n) => sum + of(n), 0) / list.length;
}

// Sorts rows by where their neighbours stand, downwards and upwards in turn; the best order is kept.
function order(rows) {
    rows.forEach(number);
    let best = rows.map((row) => row.slice()), fewest = crossings(rows);
    for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
        const side = sweep % 2 ? 'below' : 'above';
        for (const row of sweep % 2 ? rows.slice().reverse() : rows) {
            row.forEach((n) => (n.key = n[side].length ? average(n[side], (o) => o.order) : n.order));
            row.sort((a, b) => a.key - b.key || a.order - b.order);
            number(row);
        }
        const now = crossings(rows);
        if (now < fewest) {
            fewest = now;
            best = rows.map((row) => row.slice());
        }
    }
    best.forEach(number);
    return best;
}

// Moves each node to where it is wanted, as near as the nodes beside it let it: the least sum of squares, by weight, in
// which they keep their distance (isotonic regression; pools of adjacent violators).
function settle(row, wanted) {
    const pools = [], at = (pool) => pool.sum / pool.weight;
    let offset = 0;
    row.forEach((n, i) => {
        offset += i ? (row[i - 1].width + n.width) / 2 + GAP_X : 0;
        n.offset = offset;
        const pool = {sum: n.weight * (wanted(n) - offset), weight: n.weight, nodes: [n]};
        while (pools.length && at(pools[pools.length - 1]) > at(pool)) {
            const left = pools.pop();
            pool.sum += left.sum;
            pool.weight += left.weight;
            pool.nodes.unshift(...left.nodes);
        }
        pools.push(pool);
    });
    for (const pool of pools) for (const n of pool.nodes) n.x = at(pool) + n.offset;
}

function place(rows) {
    const middle = (near) => near.reduce((sum, n) => sum + n.weight * n.x, 0) / near.reduce((sum, n) => sum + n.weight, 0);
    for (const row of rows) {
        let x = 0;
        for (const n of row) {
            n.x = x + n.width / 2;
            x += n.width + GAP_X;
        }
    }
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const side = sweep % 2 ? 'below' : 'above';
        for (const row of sweep % 2 ? rows.slice().reverse() : rows)
            settle(row, (n) => (n[side].length ? middle(n[side]) : n.x));
    }
    let y = 0;
    for (const row of rows) {
        const height = Math.max(...row.map((n) => n.height));
        row.forEach((n) => {
            n.y = y + height / 2;
            n.height = n.height || height; // a virtual node is as high as its row: edges bend between rows
        });
        y += height + GAP_Y;
    }
    const all = rows.flat(), left = Math.min(...all.map((n) => n.x - n.width / 2));
    all.forEach((n) => (n.x -= left));
    return {width: Math.max(...all.map((n) => n.x + n.width / 2)), height: y - GAP_Y};
}

function layout(nodes, edges) {
    if (!nodes.length) return {width: 0, height: 0, nodes: {}, edges: []};
    const known = new Set(nodes.map((n) => n.id));
    const kept = edges.filter((e) => known.has(e.from) && known.has(e.to) && e.from !== e.to);
    const incoming = new Map(nodes.map((n) => [n.id, []])), outgoing = new Map(nodes.map((n) => [n.id, []]));
    for (const e of kept) {
        incoming.get(e.to).push(e.from);
        outgoing.get(e.from).push(e.to);
    }
    const {rows, chains} = rowsOf(nodes, kept, layersOf(nodes, incoming, outgoing), incoming);
    const size = place(order(rows)), placed = {};
    rows.flat().forEach((n) => n.id !== undefined && (placed[n.id] = {x: n.x, y: n.y}));
    const lines = chains.map(({from, to, chain}) => {
        const first = chain[0], last = chain[chain.length - 1], inner = chain.slice(1, -1);
        return {from, to, points: [[first.x, first.y + first.height / 2], ...inner.flatMap((n) => [[n.x, n.y - n.height / 2], [n.x, n.y + n.height / 2]]),
                                   [last.x, last.y - last.height / 2]]};
    });
    return {...size, nodes: placed, edges: lines};
}

if (typeof module !== 'undefined') module.exports = {layout};
