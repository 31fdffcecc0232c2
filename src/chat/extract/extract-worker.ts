import { extract } from './extract-answerer.ts'

export default extract
