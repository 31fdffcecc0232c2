/** Returns the primary language of a BCP 47 tag in its shortest form: `en` for `en-GB` and for `eng`. `und` if there is none. */
export function primaryLanguage(tag: string): string {
  const primary = /^[a-z]{2,3}(?![a-z0-9])/i.exec(tag)?.[0]
  return primary === undefined ? 'und' : new Intl.Locale(primary).language
}
