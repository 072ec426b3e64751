// Packed numbers: the texts that the Python side wrote, as arrays again.

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// A number that any one changed letter of a text changes: `checksum` of packed.py.
function checksum(text) {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (Math.imul(sum, 0x01000193) + text.charCodeAt(i)) | 0;
  return sum >>> 0;
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// Doubles, whatever precision they were packed in: f2, f4 or f8.
function floatsOf({ kind, text }) {
  const bytes = bytesOf(text), buffer = bytes.buffer;
  if (kind === "f8") return new Float64Array(buffer);
  if (kind === "f4") return new Float64Array(new Float32Array(buffer));
  const halves = new Uint16Array(buffer), numbers = new Float64Array(halves.length);
  for (let i = 0; i < halves.length; i++) numbers[i] = halfToNumber(halves[i]);
  return numbers;
}

// Small values, one hexadecimal letter each.
function valuesOf(text) {
  const values = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    values[i] = code < 58 ? code - 48 : code - 87;
  }
  return values;
}

// The same in rows of `width`.
function rowsOf(text, width) {
  const values = valuesOf(text);
  const rows = [];
  for (let i = 0; i < values.length; i += width) rows.push(values.subarray(i, i + width));
  return rows;
}
