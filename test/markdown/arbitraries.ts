import { fc } from '../support/properties.ts'

const awkward = [
  '---',
  '\n---\n',
  '---js',
  '...',
  ': ',
  ':',
  ' #',
  '#',
  '- ',
  '? ',
  '"',
  "'",
  '\\',
  ',',
  '[',
  ']',
  '{',
  '}',
  '&a',
  '*a',
  '!t',
  '|',
  '>',
  '%',
  '@',
  '`',
  '~',
  '\n',
  '\r\n',
  '\r',
  '\t',
  ' ',
  '  ',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u202e',
  '\u0007',
  'é',
  '漢字',
  '👩‍🚀',
  'null',
  'true',
  'no',
  '0042',
  '1e3',
  '2026-01-31',
  '12:30:45',
  'word',
  'key: value',
  '__proto__',
]

/** Text that YAML, front matter and line readers are tempted to misread. */
export const awkwardText = fc
  .array(fc.oneof(fc.constantFrom(...awkward), fc.string({ unit: 'grapheme', maxLength: 4 })), { maxLength: 8 })
  .map((parts) => parts.join(''))

/** No key that front matter refuses. */
export const plainWord = fc
  .stringMatching(/^[a-z][a-z0-9-]{0,11}$/)
  .filter((word) => !/^(?:constructor|prototype)$/.test(word))
