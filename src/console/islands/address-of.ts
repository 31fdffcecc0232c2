/** The URL of a form's result, without empty fields and those with the default value. */
export function addressOf(action: string, fields: readonly [name: string, value: string][]): string {
  const said = fields.filter(([, value]) => value !== '' && value !== 'all')
  return said.length === 0 ? action : `${action}?${new URLSearchParams(said)}`
}
