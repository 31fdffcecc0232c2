import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { packageNotices } from '../package-notices.ts'
import './generate-schema.ts'

// Builds the package `@ganglion/client`, which has no dependencies, in a folder: `node packages/client/pack.ts FOLDER`.

const [folder = 'dist/client-package'] = process.argv.slice(2)
const own = (file: string) => join(import.meta.dirname, file)
const root = own('../..')
const json = (file: string): object => JSON.parse(readFileSync(file, 'utf8'))

/** Folder of the CommonJS build. Its own package.json makes Node and TypeScript read the files as CommonJS. */
const commonjs = join(folder, 'commonjs')
mkdirSync(commonjs, { recursive: true })
const build = await rolldown({
  input: { index: own('src/index.ts'), webhooks: own('src/webhooks.ts') },
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'es2022' },
})
const { output } = await build.write({ dir: folder, format: 'es' })
await build.write({ dir: commonjs, format: 'cjs' })
await build.close()
execFileSync('tsc', ['-p', own('tsconfig.json'), '--outDir', folder], { stdio: 'inherit' })
for (const file of readdirSync(folder).filter((name) => name.endsWith('.d.ts'))) {
  copyFileSync(join(folder, file), join(commonjs, file))
}
writeFileSync(join(commonjs, 'package.json'), '{ "type": "commonjs" }\n')

const { version, license } = Object(json(join(root, 'package.json')))
const { devDependencies, ...manifest } = Object(json(own('package.json')))
writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, version, license }, null, 2)}\n`)
const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
writeFileSync(join(folder, 'NOTICES.txt'), await packageNotices(modules))
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
copyFileSync(own('README.md'), join(folder, 'README.md'))
