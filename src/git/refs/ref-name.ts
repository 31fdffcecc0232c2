/** Whether a name is one that a ref below `refs/` may have, by the rules of git-check-ref-format(1). */
export function isRefName(name: string): boolean {
  const components = name.split('/')
  if (components.length < 2 || components[0] !== 'refs') return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git allows none in a name
  if (/[\u0000-\u0020\u007f~^:?*[\\\ufffd]|\.\.|@\{|\.$/.test(name)) return false
  return components.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}
