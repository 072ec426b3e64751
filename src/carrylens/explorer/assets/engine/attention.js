// Attention of one head at one position: scores of what it can see, and what it brings home. Rows are `inner` wide.

// scores[o] = scale * q . k for o = 0 to last; four keys at a time share each number of q.
function scoreKeys(q, qAt, k, kAt, inner, dHead, last, scale, scores) {
  let o = 0;
  for (; o + 3 <= last; o += 4) {
    let k0 = kAt + o * inner, k1 = k0 + inner, k2 = k1 + inner, k3 = k2 + inner, s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (let i = qAt, end = qAt + dHead; i < end; i++) {
      const u = q[i];
      s0 += u * k[k0++]; s1 += u * k[k1++]; s2 += u * k[k2++]; s3 += u * k[k3++];
    }
    scores[o] = s0 * scale; scores[o + 1] = s1 * scale; scores[o + 2] = s2 * scale; scores[o + 3] = s3 * scale;
  }
  for (; o <= last; o++) {
    let sum = 0;
    for (let i = 0, at = kAt + o * inner; i < dHead; i++) sum += q[qAt + i] * k[at + i];
    scores[o] = sum * scale;
  }
}

// z = the values of 0 to last, weighed; eight numbers at a time are summed without being written in between.
function bringHome(weights, v, vAt, inner, dHead, last, z, zAt) {
  let i = 0;
  for (; i + 8 <= dHead; i += 8) {
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (let o = 0, at = vAt + i; o <= last; o++, at += inner) {
      const u = weights[o];
      s0 += u * v[at]; s1 += u * v[at + 1]; s2 += u * v[at + 2]; s3 += u * v[at + 3];
      s4 += u * v[at + 4]; s5 += u * v[at + 5]; s6 += u * v[at + 6]; s7 += u * v[at + 7];
    }
    const to = zAt + i;
    z[to] = s0; z[to + 1] = s1; z[to + 2] = s2; z[to + 3] = s3; z[to + 4] = s4; z[to + 5] = s5; z[to + 6] = s6; z[to + 7] = s7;
  }
  for (; i < dHead; i++) {
    let sum = 0;
    for (let o = 0, at = vAt + i; o <= last; o++, at += inner) sum += weights[o] * v[at];
    z[zAt + i] = sum;
  }
}
