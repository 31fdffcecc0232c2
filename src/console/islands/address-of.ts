/** The address that a form leads to, without fields that say nothing. */
export function addressOf(action: string, fields: readonly [name: string, value: string][]): string {
  const said = fields.filter(([, value]) => value !== '' && value !== 'all')
  return said.length === 0 ? action : `${action}?${new URLSearchParams(said)}`
}
