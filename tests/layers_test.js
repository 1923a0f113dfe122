// The layered drawing of the page: no two boxes overlap, edges go down, few cross.
'use strict';
const assert = require('node:assert');
const {layout} = require(require('node:path').resolve(process.argv[2]));

const node = (id, width = 60) => ({id, width, height: 30});
const edge = (from, to) => ({from, to});

function check(nodes, edges) {
    const at = layout(nodes, edges);
    const boxes = nodes.map((n) => ({...n, ...at.nodes[n.id]}));
    for (const a of boxes) {
        assert.ok(a.x - a.width / 2 >= -1e-6 && a.x + a.width / 2 <= at.width + 1e-6, `${a.id} is outside`);
        assert.ok(a.y - 15 >= -1e-6 && a.y + 15 <= at.height + 1e-6, `${a.id} is outside`);
        for (const b of boxes)
            if (a.id < b.id && Math.abs(a.y - b.y) < 30)
                assert.ok(Math.abs(a.x - b.x) >= (a.width + b.width) / 2, `${a.id} and ${b.id} overlap`);
    }
    for (const e of at.edges) {
        e.points.slice(1).forEach(([, y], i) => assert.ok(y > e.points[i][1], `${e.from} to ${e.to} does not go down`));
        for (const [x, y] of e.points.slice(1, -1))
            for (const b of boxes)
                assert.ok(Math.abs(y - b.y) > 15 + 1e-6 || Math.abs(x - b.x) >= b.width / 2, `${e.from} to ${e.to} runs into ${b.id}`);
        // beside boxes it runs straight, and bends between the rows
        for (let i = 1; i + 1 < e.points.length; i += 2) assert.strictEqual(e.points[i][0], e.points[i + 1][0]);
    }
    return at;
}

// nothing; one; a chain is straight
assert.deepStrictEqual(layout([], []), {width: 0, height: 0, nodes: {}, edges: []});
check([node(1)], []);
const chain = check([node(1), node(2, 100), node(3)], [edge(1, 2), edge(2, 3)]);
assert.strictEqual(chain.nodes[1].x, chain.nodes[2].x);
assert.strictEqual(chain.nodes[2].x, chain.nodes[3].x);

// an operand stands right above its user, not at the top
const late = check([node('x'), node('a'), node('b'), node('w')], [edge('x', 'a'), edge('a', 'b'), edge('w', 'b')]);
assert.strictEqual(late.nodes.w.y, late.nodes.a.y);

// and does not bend the way of the value that it is added to
assert.ok(Math.abs(late.nodes.a.x - late.nodes.b.x) < Math.abs(late.nodes.w.x - late.nodes.b.x) / 2);

// two that would cross do not
const crossed = check([node('a'), node('b'), node('c'), node('d')], [edge('a', 'd'), edge('b', 'c')]);
assert.ok((crossed.nodes.a.x - crossed.nodes.b.x) * (crossed.nodes.d.x - crossed.nodes.c.x) > 0);

// an edge that passes layers keeps clear of the boxes there
const long = check([node(1), node(2), node(3), node(4)], [edge(1, 2), edge(2, 3), edge(3, 4), edge(1, 4)]);
const around = long.edges.find((e) => e.from === 1 && e.to === 4);
around.points.slice(1, -1).forEach(([x, y]) => {
    for (const id of [2, 3])
        assert.ok(Math.abs(y - long.nodes[id].y) > 15 || Math.abs(x - long.nodes[id].x) > 30, 'through a box');
});

// edges to what is not there, and to oneself, are none
assert.strictEqual(check([node(1)], [edge(1, 1), edge(1, 9)]).edges.length, 0);

// any graph, and the same one twice
let seed = 7;
const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
for (let round = 0; round < 200; round++) {
    const n = 1 + random(40), nodes = [], edges = [];
    for (let i = 0; i < n; i++) {
        nodes.push(node(i, 20 + random(150)));
        for (let k = random(3); i && k > 0; k--) edges.push(edge(random(i), i));
    }
    assert.deepStrictEqual(check(nodes, edges), layout(nodes, edges));
}
