// The design to be turned: a surface net over densities on a grid, drawn with WebGL 2.
"use strict";
(async () => {
  const canvas = document.getElementById("view");
  const slider = document.getElementById("threshold");
  const told = document.getElementById("told");
  const { cells, center, radius, spacing, origin } = JSON.parse(canvas.dataset.grid);
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
  if (!gl || !window.DecompressionStream) {
    document.getElementById("viewer").classList.add("unsupported");
    return;
  }
  const bytes = await inflated(document.getElementById("volume").textContent);
  const n = cells[0] * cells[1] * cells[2];
  const density = bytes.subarray(0, n), coverage = bytes.subarray(n);
  const part = coverage.reduce((sum, share) => sum + share, 0);

  // Cells with a layer of empty ones around, so that the surface closes.
  const [px, py, pz] = cells.map(count => count + 2);
  const field = new Float32Array(px * py * pz);
  const numbers = new Int32Array(field.length);

  // Positive within the design. Both terms vanish at a side of it: at the threshold, and where
  // half of a cell lies in the part.
  function fill(threshold) {
    field.fill(-1);
    let material = 0;
    for (let k = 0, cell = 0; k < cells[2]; k++)
      for (let j = 0; j < cells[1]; j++)
        for (let i = 0; i < cells[0]; i++, cell++) {
          const inside = density[cell] / 255 - threshold;
          field[i + 1 + px * (j + 1 + py * (k + 1))] =
            Math.min(2 * inside, 2 * coverage[cell] / 255 - 1);
          if (inside >= 0) material += coverage[cell];
        }
    return material / part;
  }

  // Naive surface nets: a vertex in each cube of eight cells that the surface passes, at the mean
  // of its cuts with the edges; two triangles for each edge that it cuts.
  function surface() {
    const vertices = [], triangles = [];
    const strides = [1, px, px * py];
    const corners = [...Array(8).keys()].map(c => [c & 1, c >> 1 & 1, c >> 2]);
    const offsets = corners.map(c => c[0] + px * (c[1] + py * c[2]));
    const edges = [];
    for (let a = 0; a < 8; a++)
      for (const bit of [1, 2, 4]) if (!(a & bit)) edges.push([a, a | bit]);
    const values = new Float32Array(8);
    for (let k = 0; k + 1 < pz; k++)
      for (let j = 0; j + 1 < py; j++)
        for (let i = 0; i + 1 < px; i++) {
          const cell = i + px * (j + py * k);
          let signs = 0;
          for (let c = 0; c < 8; c++)
            if ((values[c] = field[cell + offsets[c]]) >= 0) signs |= 1 << c;
          if (signs === 0 || signs === 255) continue;
          let x = 0, y = 0, z = 0, cuts = 0;
          for (const [a, b] of edges) {
            if ((signs >> a & 1) === (signs >> b & 1)) continue;
            const share = values[a] / (values[a] - values[b]);
            const at = d => corners[a][d] + share * (corners[b][d] - corners[a][d]);
            x += at(0); y += at(1); z += at(2); cuts++;
          }
          numbers[cell] = vertices.length / 3;
          const place = (start, sum, d) =>
            origin[d] + spacing * (start + sum / cuts - 0.5) - center[d];
          vertices.push(place(i, x, 0), place(j, y, 1), place(k, z, 2));
          // Quadrilaterals around the three edges from the first corner, whose cubes are known.
          for (let d = 0; d < 3; d++) {
            if ((signs & 1) === (signs >> (1 << d) & 1)) continue;
            const u = strides[(d + 1) % 3], v = strides[(d + 2) % 3];
            const [a, b, c, e] =
              [cell, cell - u, cell - u - v, cell - v].map(at => numbers[at]);
            if (signs & 1) triangles.push(a, b, c, a, c, e);
            else triangles.push(a, c, b, a, e, c);
          }
        }
    return { vertices: new Float32Array(vertices), triangles: new Uint32Array(triangles) };
  }

  function normals({ vertices: x, triangles }) {
    const sums = new Float32Array(x.length);
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
      const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
      const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (const at of [a, b, c]) { sums[at] += nx; sums[at + 1] += ny; sums[at + 2] += nz; }
    }
    return sums;
  }

  // The light is that of the pictures.
  const program = linked(`#version 300 es
    in vec3 position, normal;
    uniform mat3 turn;
    uniform vec3 scale;
    out vec3 n;
    void main() {
      n = turn * normal;
      vec3 x = turn * position * scale;
      gl_Position = vec4(x.xy, -x.z, 1.0);
    }`, `#version 300 es
    precision highp float;
    in vec3 n;
    out vec4 color;
    void main() {
      vec3 m = normalize(n);
      float key = 1.05 * max(dot(m, normalize(vec3(-0.45, 0.65, 0.75))), 0.0);
      float fill = 0.25 * max(dot(m, normalize(vec3(0.8, 0.1, 0.4))), 0.0);
      float gloss = 0.22 * pow(max(dot(m, normalize(vec3(-0.22, 0.33, 0.92))), 0.0), 24.0);
      vec3 linear = vec3(0.20, 0.34, 0.54) * (key + fill + 0.22 + 0.12 * m.y) + gloss;
      color = vec4(pow(linear, vec3(1.0 / 2.2)), 1.0);
    }`);
  const buffers = { position: gl.createBuffer(), normal: gl.createBuffer() };
  const indices = gl.createBuffer();
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST);
  for (const [name, buffer] of Object.entries(buffers)) {
    const location = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, 3, gl.FLOAT, false, 0, 0);
  }
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);

  let count = 0, zoom = 1, turn = canvas.dataset.turn.split(" ").map(Number);
  const start = turn;

  function update() {
    const threshold = slider.valueAsNumber / 100;
    const share = fill(threshold);
    const net = surface();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.position);
    gl.bufferData(gl.ARRAY_BUFFER, net.vertices, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.normal);
    gl.bufferData(gl.ARRAY_BUFFER, normals(net), gl.DYNAMIC_DRAW);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, net.triangles, gl.DYNAMIC_DRAW);
    count = net.triangles.length;
    canvas.dataset.triangles = count / 3;
    told.textContent =
      `density ≥ ${threshold.toFixed(2)}: ${(100 * share).toFixed(1)} % of the part`;
    draw();
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const size = zoom * Math.min(width, height) / radius;
    gl.uniformMatrix3fv(gl.getUniformLocation(program, "turn"), false, turn);
    gl.uniform3f(gl.getUniformLocation(program, "scale"), size / width, size / height, 0.9 / radius);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
    canvas.dataset.drawn = Number(canvas.dataset.drawn || 0) + 1;
  }

  // Turns about the axes of the screen; the matrix is stored by columns, as WebGL takes it.
  function turned(right, down) {
    const [a, b] = [Math.cos(right), Math.sin(right)], [c, s] = [Math.cos(down), Math.sin(down)];
    const by = [a, s * b, -c * b, 0, c, s, b, -s * a, c * a];
    const product = new Array(9);
    for (let column = 0; column < 3; column++)
      for (let row = 0; row < 3; row++)
        product[3 * column + row] = [0, 1, 2].reduce((sum, k) =>
          sum + by[3 * k + row] * turn[3 * column + k], 0);
    turn = product;
    draw();
  }

  let held = null;
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    held = [event.clientX, event.clientY];
  });
  canvas.addEventListener("pointermove", event => {
    if (!held) return;
    turned((event.clientX - held[0]) * 0.01, (event.clientY - held[1]) * 0.01);
    held = [event.clientX, event.clientY];
  });
  for (const name of ["pointerup", "pointercancel"])
    canvas.addEventListener(name, () => { held = null; });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoom = Math.min(20, Math.max(0.3, zoom * Math.exp(-0.0015 * event.deltaY)));
    draw();
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (!step[event.key]) return;
    event.preventDefault();
    turned(...step[event.key]);
  });
  canvas.addEventListener("dblclick", () => { [turn, zoom] = [start, 1]; draw(); });
  slider.addEventListener("input", update);
  new ResizeObserver(draw).observe(canvas);
  update();

  async function inflated(base64) {
    const packed = Uint8Array.from(atob(base64.trim()), c => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function linked(...sources) {
    const program = gl.createProgram();
    [gl.VERTEX_SHADER, gl.FRAGMENT_SHADER].forEach((kind, which) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, sources[which]);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    return program;
  }
})();
