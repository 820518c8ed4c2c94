// Where public data sets are, and what they must be. Checksums are of the official bytes.

#include <fmt/format.h>

#include "sotto/core/nearest.hpp"
#include "sotto/data/fetch/fetch.hpp"

namespace sotto {
namespace {

using Places = std::vector<std::string>;

RemoteFile plain(const std::string& name,
                 const Places& places,
                 std::int64_t bytes,
                 const std::string& sha256) {
  return {name, places, Packing::kPlain, sha256, {{name, bytes, sha256}}};
}

/// LIBSVM's page serves large files packed by bzip2.
RemoteFile bzip2(const std::string& name,
                 const Places& places,
                 std::int64_t bytes,
                 const std::string& sha256) {
  return {name + ".bz2", places, Packing::kBzip2, "", {{name, bytes, sha256}}};
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  // The first home of MNIST asks to be spared; these two serve its bytes.
  static const Places mnist = {"https://storage.googleapis.com/cvdf-datasets/mnist",
                               "https://ossci-datasets.s3.amazonaws.com/mnist"};
  static const Places toronto = {"https://www.cs.toronto.edu/~kriz"};
  static const Places libsvm = {"https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"};
  static const std::string uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/";
  constexpr std::int64_t kCifarBatch = 30'730'000;
  static const std::vector<DataSet> all = {
      {"mnist",
       "MNIST: 60,000 + 10,000 digits of 28 x 28 pixels (LeCun, Cortes, Burges)",
       {plain("train-images-idx3-ubyte.gz",
              mnist,
              9'912'422,
              "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        plain("train-labels-idx1-ubyte.gz",
              mnist,
              28'881,
              "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        plain("t10k-images-idx3-ubyte.gz",
              mnist,
              1'648'877,
              "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        plain("t10k-labels-idx1-ubyte.gz",
              mnist,
              4'542,
              "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6")},
       "sotto train --model mnist-cnn4 --method dp-sgd --epsilon 3 --delta 1e-5 "
       "{0}/train-images-idx3-ubyte.gz,{0}/train-labels-idx1-ubyte.gz model.json"},
      {"cifar10",
       "CIFAR-10: 50,000 + 10,000 images of 32 x 32 pixels in 10 classes (Krizhevsky)",
       {{"cifar-10-binary.tar.gz",
         toronto,
         Packing::kTarGzip,
         "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
         {{"cifar-10-batches-bin/data_batch_1.bin",
           kCifarBatch,
           "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
          {"cifar-10-batches-bin/data_batch_2.bin",
           kCifarBatch,
           "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
          {"cifar-10-batches-bin/data_batch_3.bin",
           kCifarBatch,
           "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
          {"cifar-10-batches-bin/data_batch_4.bin",
           kCifarBatch,
           "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
          {"cifar-10-batches-bin/data_batch_5.bin",
           kCifarBatch,
           "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
          {"cifar-10-batches-bin/test_batch.bin",
           kCifarBatch,
           "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}}}},
       "sotto train --model cifar-cnn6 --method dp-sgd --format cifar10 --epsilon 4 --delta 1e-5 "
       "{0}/cifar-10-batches-bin model.json"},
      {"cifar100",
       "CIFAR-100: 50,000 + 10,000 images of 32 x 32 pixels in 100 classes (Krizhevsky)",
       {{"cifar-100-binary.tar.gz",
         toronto,
         Packing::kTarGzip,
         "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
         {{"cifar-100-binary/train.bin",
           153'700'000,
           "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"},
          {"cifar-100-binary/test.bin",
           30'740'000,
           "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"}}}},
       "sotto train --model cifar-cnn6 --method sgd --format cifar100 "
       "{0}/cifar-100-binary/train.bin "
       "public.json"},
      {"a9a",
       "a9a: 32,561 + 16,281 rows of UCI Adult with 123 binary features (LIBSVM data)",
       {plain("a9a",
              libsvm,
              2'329'875,
              "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),
        plain("a9a.t",
              libsvm,
              1'164'628,
              "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9")},
       "sotto train --epsilon 1 --delta 1e-6 --row-norm 3.742 --test {0}/a9a.t {0}/a9a model.json"},
      {"ijcnn1",
       "ijcnn1: 49,990 + 91,701 rows with 22 features (LIBSVM data)",
       {bzip2("ijcnn1",
              libsvm,
              7'744'897,
              "16506cad788cf7c9607454150ed1994788204bac2ff4c9cb3b320036b6950d3f"),
        bzip2("ijcnn1.t",
              libsvm,
              14'213'968,
              "e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8")},
       "sotto train --epsilon 1 --delta 1e-6 --row-norm 2 --test {0}/ijcnn1.t {0}/ijcnn1 "
       "model.json"},
      {"adult",
       "Adult: 32,561 + 16,281 people of the 1994 census, income above 50K or not (UCI)",
       {plain("adult.data",
              {uci + "adult"},
              3'974'305,
              "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        plain("adult.test",
              {uci + "adult"},
              2'003'153,
              "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05")},
       "sotto train --schema examples/adult.toml --epsilon 1 --delta 1e-6 {0}/adult.data "
       "model.json"},
      {"covertype",
       "Covertype: 581,012 patches of forest, 54 features, 7 classes (UCI)",
       {{"covtype.data.gz",
         {uci + "covtype"},
         Packing::kPlain,
         "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
         {{"covtype.data.gz",
           0,
           "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771"}}}},
       "sotto train --schema examples/covertype.toml --epsilon 1 --delta 1e-7 {0}/covtype.data.gz "
       "model.json"},
      {"wdbc",
       "Breast Cancer Wisconsin (Diagnostic): 569 rows, 30 features (UCI)",
       {plain("wdbc.data",
              {uci + "breast-cancer-wisconsin"},
              124'103,
              "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a")},
       ""}};
  return all;
}

Expected<const DataSet*> find_data_set(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& set : data_sets()) {
    if (set.name == name) return &set;
    names.push_back(set.name);
  }
  return fail(ErrorKind::kUsage,
              fmt::format("unknown data set '{}'.{} Known: {}.",
                          name,
                          did_you_mean(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace sotto
