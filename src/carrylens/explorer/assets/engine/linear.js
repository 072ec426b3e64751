// Linear algebra on rows of doubles. A weight matrix is kept transposed, [out][in], so that all loops run along memory; one
// that reads what a ReLU left is kept as it is, [in][out], because most of what it reads is zero and is passed over.

function transposed(values, offset, nIn, nOut) {
  const out = new Float64Array(nIn * nOut);
  for (let i = 0; i < nIn; i++) for (let j = 0; j < nOut; j++) out[j * nIn + i] = values[offset + i * nOut + j];
  return out;
}

// y[yAt..] = W x[xAt..] + b for one row; four outputs at a time share each number of x.
function project(w, b, nIn, nOut, x, xAt, y, yAt) {
  let j = 0;
  for (; j + 4 <= nOut; j += 4) {
    let s0 = b[j], s1 = b[j + 1], s2 = b[j + 2], s3 = b[j + 3];
    let w0 = j * nIn, w1 = w0 + nIn, w2 = w1 + nIn, w3 = w2 + nIn;
    for (let i = xAt, end = xAt + nIn; i < end; i++) {
      const v = x[i];
      s0 += v * w[w0++]; s1 += v * w[w1++]; s2 += v * w[w2++]; s3 += v * w[w3++];
    }
    y[yAt + j] = s0; y[yAt + j + 1] = s1; y[yAt + j + 2] = s2; y[yAt + j + 3] = s3;
  }
  for (; j < nOut; j++) {
    let s = b[j];
    for (let i = 0, at = j * nIn; i < nIn; i++) s += x[xAt + i] * w[at + i];
    y[yAt + j] = s;
  }
}

// The same for two rows at once: each weight is read once for both.
function projectTwo(w, b, nIn, nOut, x, xAt, xBt, y, yAt, yBt) {
  let j = 0;
  for (; j + 4 <= nOut; j += 4) {
    let s0 = b[j], s1 = b[j + 1], s2 = b[j + 2], s3 = b[j + 3], t0 = s0, t1 = s1, t2 = s2, t3 = s3;
    let w0 = j * nIn, w1 = w0 + nIn, w2 = w1 + nIn, w3 = w2 + nIn;
    for (let i = 0; i < nIn; i++) {
      const u = x[xAt + i], v = x[xBt + i], a0 = w[w0++], a1 = w[w1++], a2 = w[w2++], a3 = w[w3++];
      s0 += u * a0; s1 += u * a1; s2 += u * a2; s3 += u * a3;
      t0 += v * a0; t1 += v * a1; t2 += v * a2; t3 += v * a3;
    }
    y[yAt + j] = s0; y[yAt + j + 1] = s1; y[yAt + j + 2] = s2; y[yAt + j + 3] = s3;
    y[yBt + j] = t0; y[yBt + j + 1] = t1; y[yBt + j + 2] = t2; y[yBt + j + 3] = t3;
  }
  for (; j < nOut; j++) {
    let s = b[j], t = b[j];
    for (let i = 0, at = j * nIn; i < nIn; i++) { s += x[xAt + i] * w[at + i]; t += x[xBt + i] * w[at + i]; }
    y[yAt + j] = s; y[yBt + j] = t;
  }
}

// Rows `rows` of x, each nIn wide, to the same rows of y, each nOut wide.
function projectRows(w, b, nIn, nOut, x, y, rows) {
  let i = 0;
  for (; i + 2 <= rows.length; i += 2) {
    const p = rows[i], q = rows[i + 1];
    projectTwo(w, b, nIn, nOut, x, p * nIn, q * nIn, y, p * nOut, q * nOut);
  }
  if (i < rows.length) project(w, b, nIn, nOut, x, rows[i] * nIn, y, rows[i] * nOut);
}

function addRows(a, b, sum, width, rows) {
  for (const p of rows) for (let i = p * width, end = i + width; i < end; i++) sum[i] = a[i] + b[i];
}

// The same as `projectRows` where many numbers of x are zero: w is [in][out]. `scratch` has room for the places and values of one row.
function projectActive(w, b, nIn, nOut, x, y, rows, { places, values }) {
  for (const p of rows) {
    let n = 0, j = 0;
    for (let i = 0, at = p * nIn; i < nIn; i++) {
      const value = x[at + i];
      if (value !== 0) {
        places[n] = i * nOut;
        values[n++] = value;
      }
    }
    let to = p * nOut;
    for (; j + 8 <= nOut; j += 8, to += 8) {
      let s0 = b[j], s1 = b[j + 1], s2 = b[j + 2], s3 = b[j + 3], s4 = b[j + 4], s5 = b[j + 5], s6 = b[j + 6], s7 = b[j + 7];
      for (let k = 0; k < n; k++) {
        const u = values[k], at = places[k] + j;
        s0 += u * w[at]; s1 += u * w[at + 1]; s2 += u * w[at + 2]; s3 += u * w[at + 3];
        s4 += u * w[at + 4]; s5 += u * w[at + 5]; s6 += u * w[at + 6]; s7 += u * w[at + 7];
      }
      y[to] = s0; y[to + 1] = s1; y[to + 2] = s2; y[to + 3] = s3; y[to + 4] = s4; y[to + 5] = s5; y[to + 6] = s6; y[to + 7] = s7;
    }
    for (; j < nOut; j++, to++) {
      let s = b[j];
      for (let k = 0; k < n; k++) s += values[k] * w[places[k] + j];
      y[to] = s;
    }
  }
}

// LayerNorm of one row; `gain` is null where it has no weights.
function normalize(norm, width, eps, x, at, y) {
  if (norm === null) {
    for (let i = at; i < at + width; i++) y[i] = x[i];
    return;
  }
  let mean = 0, square = 0;
  for (let i = at; i < at + width; i++) mean += x[i];
  mean /= width;
  for (let i = at; i < at + width; i++) square += (x[i] - mean) * (x[i] - mean);
  const scale = 1 / Math.sqrt(square / width + eps), { gain, bias } = norm;
  for (let i = 0; i < width; i++) {
    const value = (x[at + i] - mean) * scale;
    y[at + i] = gain === null ? value : value * gain[i] + bias[i];
  }
}

// The complementary error function to 1e-7 of its value (a Chebyshev fit).
function erfc(x) {
  const z = Math.abs(x), t = 1 / (1 + z / 2);
  const fit = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
    -0.82215223, 0.17087277];
  let sum = 0;
  for (let i = fit.length - 1; i >= 0; i--) sum = sum * t + fit[i];
  const value = t * Math.exp(-z * z + sum);
  return x >= 0 ? value : 2 - value;
}

const ACTIVATIONS = {
  relu: (x) => (x > 0 ? x : 0),
  gelu: (x) => 0.5 * x * erfc(-x * Math.SQRT1_2),
  gelu_new: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x))),
};
ACTIVATIONS.gelu_fast = ACTIVATIONS.gelu_new;

function activate(name, x, from, to) {
  if (name === "relu") {
    for (let i = from; i < to; i++) if (x[i] < 0) x[i] = 0;
    return;
  }
  const act = ACTIVATIONS[name];
  for (let i = from; i < to; i++) x[i] = act(x[i]);
}

function softmax(values, at, count) {
  let top = -Infinity, total = 0;
  for (let i = at; i < at + count; i++) if (values[i] > top) top = values[i];
  for (let i = at; i < at + count; i++) total += values[i] = Math.exp(values[i] - top);
  for (let i = at; i < at + count; i++) values[i] /= total;
}

function argmax(values, at, count) {
  let best = at;
  for (let i = at + 1; i < at + count; i++) if (values[i] > values[best]) best = i;
  return best - at;
}
