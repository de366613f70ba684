// Phred qualities as error probabilities (ERROR of pairhmm/models/gatk.py, bit by bit).

// 10^0 to 10^-0.9: with a power of ten behind them, texts become the nearest numbers. A pow may miss them.
const TENTHS = [
  "1",
  "0.79432823472428150207",
  "0.63095734448019324943",
  "0.50118723362727228500",
  "0.39810717055349725077",
  "0.31622776601683793320",
  "0.25118864315095801111",
  "0.19952623149688796014",
  "0.15848931924611134852",
  "0.12589254117941672104",
];

/** The error probability of each Phred quality, 0 to 255. */
export const ERROR = Float64Array.from({ length: 256 }, (_, quality) =>
  Number(`${TENTHS[quality % 10]}e-${Math.floor(quality / 10)}`),
);
