import type { Weights } from './features.ts'

/** Fitted by `npm run bench answers-fit`. */
export const english: Weights = {
  bias: -8.07,
  own: 5.74,
  near: 2.19,
  heading: 3.93,
  path: 3.69,
  rarest: 0.62,
  absent: -1.63,
  adjacent: 2.41,
  rank: 2.35,
  margin: 2.15,
  first: 1.13,
  headingFit: 3.66,
  posed: 4.25,
  name: -1.59,
  number: 0.45,
  untyped: -1.29,
  counted: 0.76,
  defines: 4,
  limits: 2.44,
}

/** For questions of which nothing is known but their words: fitted to the same English ones, without what is of English alone. */
export const anyLanguage: Weights = {
  bias: -8.68,
  own: 5.99,
  near: 2.78,
  heading: 3.57,
  path: 2.35,
  rarest: 0.43,
  absent: -1.94,
  adjacent: 2.66,
  rank: 2.76,
  margin: 2.38,
  first: 0.98,
  headingFit: 3.48,
  posed: 3.5,
}
