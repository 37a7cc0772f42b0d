// Money is added exactly: binary fractions would turn 0.1 + 0.2 into 0.30000000000000004.

type Spelled = string | number;

function scaled(value: Spelled): [bigint, number] {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(String(value).trim());
  if (!match) return [0n, 0];
  const [, sign, whole, fraction, exponent] = match;
  const digits = BigInt((whole + fraction) || "0") * (sign === "-" ? -1n : 1n);
  const places = fraction.length - Number(exponent ?? 0);
  return places >= 0 ? [digits, places] : [digits * 10n ** BigInt(-places), 0];
}

/** The exact sum, spelled like the first of the two. */
export function addDecimals(a: Spelled, b: Spelled): Spelled {
  const [left, leftPlaces] = scaled(a);
  const [right, rightPlaces] = scaled(b);
  const places = Math.max(leftPlaces, rightPlaces);
  const sum = left * 10n ** BigInt(places - leftPlaces) + right * 10n ** BigInt(places - rightPlaces);
  const text = spell(sum, places);
  return typeof a === "number" ? Number(text) : text;
}

function spell(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  return (value < 0n ? "-" : "") + (places ? `${whole}.${digits.slice(-places)}` : whole);
}
