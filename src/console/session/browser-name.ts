/** Most specific first: most browsers also name those that they are compatible with. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Chromium|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** What a person calls the browser of a `User-Agent`. */
export function browserName(agent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(agent))?.[1]
  const [browser, system] = [find(browsers) ?? 'A browser', find(systems)]
  return system === undefined ? browser : `${browser} on ${system}`
}
