import { useClient } from './use-client.js'

declare const process: { argv: string[] }

console.log(JSON.stringify(await useClient(JSON.parse(process.argv[2] ?? ''))))
