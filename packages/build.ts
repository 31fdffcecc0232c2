import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, globSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { browserBundle } from '../src/console/layout/browser-bundle.ts'
import { packChecker } from './check/pack-checker.ts'

// Makes the server and the packages in `dist`: `npm run build`.

const tsc = (project: string) => execFileSync('tsc', ['-p', project], { stdio: 'inherit' })
const run = (...args: string[]) => execFileSync('node', args, { stdio: 'inherit' })

rmSync('dist', { recursive: true, force: true })
// First, because it generates types that the server imports.
run('packages/client/pack.ts', 'dist/client-package')

tsc('src')
for (const name of readdirSync('dist/compiled/src')) renameSync(`dist/compiled/src/${name}`, `dist/${name}`)
for (const name of ['client', 'contract-suite']) renameSync(`dist/compiled/packages/${name}/src`, `dist/${name}`)
rmSync('dist/compiled', { recursive: true })
for (const file of globSync('dist/cli/*/*.js')) {
  writeFileSync(file, readFileSync(file, 'utf8').replace("'#client'", "'../../client/index.js'"))
}
writeFileSync('dist/kb/ganglion-check.tgz', await packChecker())

tsc('src/console/islands')
cpSync('src/console', 'dist/console', { recursive: true, filter: (path) => !/\.(?:ts|json)$/.test(path) })
writeFileSync('dist/console/islands/codemirror.js', await browserBundle('src/console/islands/codemirror.ts'))

tsc('packages/widget')
run('packages/widget/bundle-widget.ts', 'dist/widget')

for (const name of ['package.json', 'README.md', 'src/cases']) {
  cpSync(`packages/contract-suite/${name}`, `dist/contract-suite/${basename(name)}`, { recursive: true })
}
copyFileSync('LICENSE', 'dist/contract-suite/LICENSE')
