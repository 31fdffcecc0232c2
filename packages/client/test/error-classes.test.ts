import { expect, test } from 'vitest'
import { errorTable } from '../../../src/contract/errors.ts'

// `npm test -- packages/client -u` records them after a change of the table.
test('the errors of the client are those of the table', async () => {
  await expect(errorClasses()).toMatchFileSnapshot('../src/error-classes.ts')
})

function errorClasses(): string {
  const errors = Object.entries(errorTable).map(([code, { status, message }]) => {
    const name = `${code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Error`
    return { code, status, message, name }
  })
  return [
    "/** Generated from the server's table of errors. */",
    "import { GanglionError } from './ganglion-error.ts'",
    '',
    ...errors.flatMap(({ code, status, message, name }) => [
      `/** ${status} \`${code}\`: ${message} */`,
      `export class ${name} extends GanglionError {}`,
    ]),
    '',
    '/** Status and class by stable code. */',
    'export const errorClasses = {',
    ...errors.map(({ code, status, name }) => `  ${code}: [${status}, ${name}],`),
    '} as const',
    '',
  ].join('\n')
}
