// Statistics: exact intervals of rates.

function logGamma(x) {
  const fit = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.001208650973866179,
    -0.000005395239384953];
  let sum = 1.000000000190015;
  for (let i = 0; i < 6; i++) sum += fit[i] / (x + 1 + i);
  const t = x + 5.5;
  return (x + 0.5) * Math.log(t) - t + Math.log((2.5066282746310005 * sum) / x);
}

// The regularised incomplete beta function, by its continued fraction.
function betaShare(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x)) / a;
  let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1) || 1e-300), value = d;
  for (let m = 1; m < 400; m++) {
    for (const factor of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + factor * d || 1e-300);
      c = 1 + factor / c || 1e-300;
      value *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-13) break;
  }
  return front * value;
}

function betaQuantile(a, b, share) {
  let low = 0, high = 1;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (betaShare(a, b, middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// The exact 95% Clopper-Pearson interval.
function interval(hits, n) {
  if (!n) return [0, 1];
  return [
    hits ? betaQuantile(hits, n - hits + 1, 0.025) : 0,
    hits < n ? betaQuantile(hits + 1, n - hits, 0.975) : 1,
  ];
}
