/** A style sheet, bundled as minified text. */
declare module "*.css" {
  const text: string;
  export default text;
}
