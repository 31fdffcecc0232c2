/** Code pages of Windows and DOS, as names of the Encoding Standard. */
const codePages: ReadonlyMap<number, string> = new Map([
  ...Array.from({ length: 9 }, (_, at): [number, string] => [1250 + at, `windows-${1250 + at}`]),
  ...([
    [866, 'ibm866'],
    [874, 'windows-874'],
    [932, 'shift_jis'],
    [936, 'gb18030'],
    [949, 'euc-kr'],
  ] as const),
  ...([
    [950, 'big5'],
    [10000, 'macintosh'],
    [10007, 'x-mac-cyrillic'],
    [65001, 'utf-8'],
  ] as const),
])

/** Character sets of fonts (`\\fcharset`), as code pages. */
const fontCodePages: ReadonlyMap<number, number> = new Map([
  ...([
    [77, 10000],
    [128, 932],
    [129, 949],
    [134, 936],
    [136, 950],
    [161, 1253],
    [162, 1254],
    [163, 1258],
  ] as const),
  ...([
    [177, 1255],
    [178, 1256],
    [186, 1257],
    [204, 1251],
    [222, 874],
    [238, 1250],
  ] as const),
])

/** @returns a name of the Encoding Standard; undefined for a code page that it does not have */
export function encodingOf(codePage: number): string | undefined {
  return codePages.get(codePage)
}

/** @param charset number after `\\fcharset` @returns undefined where the encoding of the document holds */
export function encodingOfFont(charset: number): string | undefined {
  return codePages.get(fontCodePages.get(charset) ?? 0)
}
