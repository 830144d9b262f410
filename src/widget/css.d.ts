/** A style sheet, bundled as its minified text. */
declare module "*.css" {
  const text: string;
  export default text;
}
